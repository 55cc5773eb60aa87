/**
 * The costs of sessions: day by day, then by day, session, turn, project, model or agent. Costs
 * without a stored price are from list prices, and marked.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";
import type { CostFilter, CostRow, CostTable } from "../api.ts";
import { budget, setBudget } from "./budget.ts";
import { fetchCosts } from "./client.ts";
import { drawDays } from "./day-chart.ts";
import { Failure, useLoaded } from "./loading.tsx";
import { dayStacks } from "./model/day-stacks.ts";
import { formatCost, formatCount, plural } from "./model/formatting.ts";
import { costDimensions, sessionPlace } from "./model/route.ts";
import type { CostDimension, Route } from "./model/route.ts";
import { Link, go } from "./navigation.tsx";
import { sessionItems } from "./session-catalog.ts";
import { titleOf } from "./model/session-title.ts";
import { isDark } from "./theme.ts";

/** So that what is below the table is seen as well. */
const rowsAtFirst = 12;
/** Of years, the bars of single days are too narrow to be seen. */
const chartDaysMax = 90;

interface CostsProps {
  readonly by: CostDimension;
  readonly filter: CostFilter;
}

export function CostsView({ by, filter }: CostsProps): VNode {
  const name = JSON.stringify([by, filter]);
  const { value, failure } = useLoaded(name, () => fetchCosts(by, filter));
  return (
    <section class="page costs">
      <Heading filter={filter} by={by} />
      {failure === null ? null : <Failure text={failure} />}
      {value === null && failure === null ? <CostsPending /> : null}
      {value === null ? null : <Costs key={name} table={value} by={by} filter={filter} />}
    </section>
  );
}

/** Where one is: all costs, a day of them, a session of that day. */
function Heading({ filter: { day, session }, by }: CostsProps): VNode {
  const item = sessionItems.value.find(({ key }) => key === session);
  return (
    <h1 class="trail">
      {day === undefined && session === undefined ? (
        "Costs"
      ) : (
        <Link to={{ kind: "costs", by: by === "turn" ? "session" : by }}>Costs</Link>
      )}
      {day === undefined ? null : session === undefined ? (
        <span>{day}</span>
      ) : (
        <Link to={{ kind: "costs", by: "session", filter: { day } }}>{day}</Link>
      )}
      {session === undefined ? null : <span>{item === undefined ? session : titleOf(item)}</span>}
    </h1>
  );
}

function CostsPending(): VNode {
  return (
    <div class="list-pending" role="status" aria-label="Adding up costs">
      {Array.from({ length: 6 }, (_, at) => (
        <span key={at} class="skeleton-bar" />
      ))}
      <p class="count">The first time reads all sessions.</p>
    </div>
  );
}

function Costs({ table, by, filter }: CostsProps & { readonly table: CostTable }): VNode {
  const { rows, total, leftOut, days, turns } = table;
  const [isWhole, setWhole] = useState(false);
  // Of days, the last ones say most.
  const shownRows = isWhole
    ? rows
    : by === "day"
      ? rows.slice(-rowsAtFirst)
      : rows.slice(0, rowsAtFirst);
  if (total.requests === 0 && total.turns === 0) {
    return <p class="pending">No costs.</p>;
  }
  const highest = Math.max(...rows.map(({ estimated }) => estimated ?? 0), 0);
  return (
    <>
      <Totals table={table} filter={filter} />
      {days.length === 0 ? null : (
        <DayChart key={`${isDark()} ${budget.value}`} table={table} filter={filter} />
      )}
      <nav class="tabs" aria-label="Costs by">
        {costDimensions.map((each) => (
          <Link key={each} to={{ kind: "costs", by: each, filter }} isCurrent={each === by}>
            by {each}
          </Link>
        ))}
      </nav>
      <div class="table-frame" tabIndex={0} role="region" aria-label={`Costs by ${by}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{by}</th>
              <th scope="col">Cost</th>
              <th scope="col">Turns</th>
              <th scope="col">Requests</th>
              <th scope="col">Input</th>
              <th scope="col">From cache</th>
              <th scope="col">Output</th>
            </tr>
          </thead>
          <tbody>
            {shownRows.map((row, at) => (
              <CostLine
                key={at}
                row={row}
                to={placeOf(by, row, filter)}
                share={share(row.estimated, highest)}
              />
            ))}
          </tbody>
          <tfoot>
            <CostLine row={{ ...total, name: "All" }} to={null} share={0} />
          </tfoot>
        </table>
      </div>
      {isWhole || rows.length <= rowsAtFirst ? null : (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          All {formatCount(rows.length)}
        </button>
      )}
      {leftOut === 0 ? null : <p class="count">{formatCount(leftOut)} more, each with less.</p>}
      {by === "turn" ? null : <ExpensiveTurns turns={turns} />}
    </>
  );
}

/** From a day to its sessions, from a session to its turns, from a turn to its text. */
function placeOf(by: CostDimension, row: CostRow, filter: CostFilter): Route | null {
  if (by === "day" && row.name !== "") {
    return { kind: "costs", by: "session", filter: { ...filter, day: row.name } };
  }
  if (row.key === null) return null;
  if (by === "session") {
    return { kind: "costs", by: "turn", filter: { ...filter, session: row.key } };
  }
  return turnPlace(row);
}

function turnPlace({ key, entryId }: CostRow): Route | null {
  if (key === null) return null;
  return entryId === null ? sessionPlace(key) : { kind: "session", key, row: null, entryId };
}

function Totals({
  table,
  filter,
}: Pick<CostsProps, "filter"> & { readonly table: CostTable }): VNode {
  const { total, days } = table;
  const chosen = filter.day === undefined ? days : days.filter(({ day }) => day === filter.day);
  const overBudget = chosen.filter(({ models }) => sumOf(models) > (budget.value ?? Infinity));
  const facts: readonly (readonly [string, string, string])[] = [
    ["Cost", priceOf(total), priceNote(total)],
    ["Turns", formatCount(total.turns), `${formatCount(total.requests)} requests`],
    [
      "A turn",
      total.turns === 0 ? "–" : formatCost((total.estimated ?? 0) / total.turns),
      "on average",
    ],
    ["Cache hits", cacheShare(total) || "–", "of the input"],
    ["Days", formatCount(chosen.length), budgetNote(overBudget.length)],
  ];
  return (
    <div class="totals">
      <dl>
        {facts.map(([name, value, note]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
            <dd class="count">{note}</dd>
          </div>
        ))}
      </dl>
      <label>
        Budget a day, $
        <input
          type="number"
          min="0"
          step="any"
          inputMode="decimal"
          defaultValue={budget.value === null ? "" : String(budget.value)}
          onChange={({ currentTarget }) => setBudget(currentTarget.value)}
        />
      </label>
    </div>
  );
}

function budgetNote(over: number): string {
  return budget.value === null ? "with costs" : `${plural(over, "day")} over budget`;
}

function sumOf(models: Readonly<Record<string, number>>): number {
  return Object.values(models).reduce((sum, cost) => sum + cost, 0);
}

/** "$1.20", with a mark where prices are unknown. */
function priceOf({ estimated, unestimated }: CostRow): string {
  return estimated !== null && unestimated > 0
    ? `≥ ${formatCost(estimated)}`
    : formatCost(estimated);
}

function priceNote({ cost, estimated, unestimated }: CostRow): string {
  const byTable = (estimated ?? 0) - (cost ?? 0);
  const notes = [
    ...(byTable > 0.00005 ? [`${formatCost(byTable)} from list prices`] : []),
    ...(unestimated > 0 ? [`${formatCount(unestimated)} requests without a price`] : []),
  ];
  return notes.join(", ") || "as stored";
}

function share(cost: number | null, highest: number): number {
  return cost === null || highest === 0 ? 0 : cost / highest;
}

/** The part of the input that was read from the cache. */
function cacheShare({ input, cacheRead, cacheWrite }: CostRow): string {
  const read = input + cacheRead + cacheWrite;
  return read === 0 ? "" : `${Math.round((cacheRead / read) * 100)} %`;
}

interface CostLineProps {
  readonly row: CostRow;
  readonly to: Route | null;
  readonly share: number;
}

function CostLine({ row, to, share: part }: CostLineProps): VNode {
  const name = row.name === "" ? "unknown" : row.name;
  return (
    <tr>
      <th scope="row" title={name}>
        {to === null ? name : <Link to={to}>{name}</Link>}
      </th>
      <td class="cost" title={priceNote(row)}>
        <span class="bar" aria-hidden="true" style={{ width: `${part * 100}%` }} />
        <span>{priceOf(row)}</span>
      </td>
      <td class="number">{formatCount(row.turns)}</td>
      <td class="number">{formatCount(row.requests)}</td>
      <td class="number">{formatCount(row.input + row.cacheWrite)}</td>
      <td class="number">
        {formatCount(row.cacheRead)} <span class="count">{cacheShare(row)}</span>
      </td>
      <td class="number">{formatCount(row.output)}</td>
    </tr>
  );
}

function ExpensiveTurns({ turns }: { readonly turns: readonly CostRow[] }): VNode | null {
  const shown = turns.filter(({ estimated }) => (estimated ?? 0) > 0);
  if (shown.length < 2) return null;
  return (
    <section class="expensive">
      <h2>Most expensive turns</h2>
      <ol>
        {shown.map((row, at) => {
          const to = turnPlace(row);
          return (
            <li key={at}>
              <span class="number">{priceOf(row)}</span>
              {to === null ? row.name : <Link to={to}>{row.name}</Link>}
              <span class="count">{plural(row.requests, "request")}</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

interface ChartProps extends Pick<CostsProps, "filter"> {
  readonly table: CostTable;
}

function DayChart({ table, filter }: ChartProps): VNode {
  const element = useRef<HTMLDivElement>(null);
  const [isWhole, setWhole] = useState(false);
  // Days of models without a price have no bars.
  const priced = table.days.filter(({ models }) => Object.values(models).some((cost) => cost > 0));
  const last = Date.parse(priced.at(-1)?.day ?? table.days.at(-1)?.day ?? "");
  const since = new Date(last - chartDaysMax * 86_400_000).toISOString().slice(0, 10);
  const days = isWhole ? table.days : table.days.filter(({ day }) => day > since);
  const hidden = table.days.length - days.length;
  const stacks = dayStacks(days);
  const name = JSON.stringify(days);
  useEffect(() => {
    if (element.current === null) return undefined;
    const onDay = (day: string): void =>
      go({ kind: "costs", by: "session", filter: { ...filter, day } });
    return drawDays(element.current, stacks, { budget: budget.value, onDay });
  }, [name]);
  const models = stacks.models.map((model) => model.name).join(", ");
  return (
    <div class="chart-frame">
      <div
        class="chart"
        ref={element}
        role="img"
        aria-label={`Costs per day, by model (${models}): the table by day has them, too`}
      />
      {hidden === 0 ? null : (
        <button type="button" onClick={() => setWhole(true)}>
          Show {plural(hidden, "day")} before {since}
        </button>
      )}
    </div>
  );
}
