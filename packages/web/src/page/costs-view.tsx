/** What the sessions cost: by project, day, model or agent. Unknown prices are shown as unknown. */
import { useEffect, useRef } from "preact/hooks";
import type { VNode } from "preact";
import type { CostRow, CostTable } from "../api.ts";
import { fetchCosts } from "./client.ts";
import { drawDays } from "./day-chart.ts";
import { Pending, useLoaded } from "./loading.tsx";
import { formatCost, formatCount } from "./model/formatting.ts";
import { costDimensions } from "./model/route.ts";
import type { CostDimension } from "./model/route.ts";
import { Link } from "./navigation.tsx";
import { themeName } from "./theme.ts";

export function CostsView({ by }: { readonly by: CostDimension }): VNode {
  const { value, failure } = useLoaded(by, () => fetchCosts(by));
  return (
    <section class="page costs">
      <h1>Costs</h1>
      <nav class="tabs" aria-label="Costs by">
        {costDimensions.map((each) => (
          <Link key={each} to={{ kind: "costs", by: each }} isCurrent={each === by}>
            by {each}
          </Link>
        ))}
      </nav>
      {value === null ? <Pending failure={failure} /> : <Costs table={value} />}
    </section>
  );
}

function Costs({ table }: { readonly table: CostTable }): VNode {
  const { rows, total, by } = table;
  const highest = Math.max(...rows.map(({ cost }) => cost ?? 0), 0);
  return (
    <>
      {by === "day" && rows.length > 1 ? <DayChart key={themeName()} rows={rows} /> : null}
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
            {rows.map((row) => (
              <CostLine key={row.name} row={row} share={share(row.cost, highest)} />
            ))}
          </tbody>
          <tfoot>
            <CostLine row={{ ...total, name: "All" }} share={0} />
          </tfoot>
        </table>
      </div>
    </>
  );
}

function share(cost: number | null, highest: number): number {
  return cost === null || highest === 0 ? 0 : cost / highest;
}

/** The part of the input that was read from the cache. */
function cacheShare({ input, cacheRead, cacheWrite }: CostRow): string {
  const read = input + cacheRead + cacheWrite;
  return read === 0 ? "" : `${Math.round((cacheRead / read) * 100)} %`;
}

function CostLine({ row, share: part }: { readonly row: CostRow; readonly share: number }): VNode {
  return (
    <tr>
      <th scope="row" title={row.name}>
        {row.name}
      </th>
      <td class="cost">
        <span class="bar" aria-hidden="true" style={{ width: `${part * 100}%` }} />
        <span>{formatCost(row.cost, row.unpriced)}</span>
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

function DayChart({ rows }: { readonly rows: readonly CostRow[] }): VNode {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (element.current === null) return undefined;
    return drawDays(element.current, rows);
  }, [rows]);
  return <div class="chart" ref={element} role="img" aria-label="Costs per day, as in the table" />;
}
