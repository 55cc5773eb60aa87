/** Two branches side by side: the common part, folded, and how each continues. */
import type { VNode } from "preact";
import type { BranchComparison, ComparedBranch, ComparedTurn, TurnHead } from "../api.ts";
import { fetchComparison } from "./client.ts";
import { SessionLink } from "./block-view.tsx";
import { useKeys } from "./keyboard.ts";
import { Pending, useLoaded } from "./loading.tsx";
import { plural } from "./model/formatting.ts";
import { sessionPlace } from "./model/route.ts";
import { Link, go } from "./navigation.tsx";
import { Files, HeadFacts } from "./turn-facts.tsx";

interface ComparePageProps {
  readonly sessionKey: string;
  readonly from: number;
  readonly to: number;
}

export function ComparePage({ sessionKey, from, to }: ComparePageProps): VNode {
  const name = `${sessionKey}/${from}/${to}`;
  const { value, failure } = useLoaded(name, () => fetchComparison(sessionKey, from, to));
  useKeys({ Escape: () => go(sessionPlace(sessionKey, from)) });
  if (value === null) return <Pending failure={failure} />;
  const [one, other] = value.branches;
  return (
    <section class="page compare">
      <h1 class="trail">
        <SessionLink sessionKey={sessionKey} row={from} />
        <span>Two branches</span>
      </h1>
      <CommonPart common={value.common} sessionKey={sessionKey} />
      <div class="compared">
        <Branch name="First" branch={one} sessionKey={sessionKey} />
        <Branch name="Second" branch={other} sessionKey={sessionKey} />
      </div>
    </section>
  );
}

interface CommonPartProps {
  readonly common: BranchComparison["common"];
  readonly sessionKey: string;
}

function CommonPart({ common, sessionKey }: CommonPartProps): VNode {
  const { turnCount, entryCount, turns } = common;
  if (entryCount === 0) return <p class="facts">They have no entries in common.</p>;
  return (
    <details class="folded">
      <summary>
        <b>{plural(turnCount, "turn")} in common</b>{" "}
        <span class="gist">{turns.at(-1)?.prompt ?? ""}</span>
      </summary>
      <ol class="folded-text" start={turnCount - turns.length + 1}>
        {turns.map(({ row, prompt }) => (
          <li key={row}>
            <Link to={sessionPlace(sessionKey, row)}>{prompt || "(no prompt)"}</Link>
          </li>
        ))}
      </ol>
    </details>
  );
}

interface BranchProps {
  readonly name: string;
  readonly branch: ComparedBranch;
  readonly sessionKey: string;
}

function Branch({ name, branch, sessionKey }: BranchProps): VNode {
  const { row, turns, turnCount, sums } = branch;
  if (row < 0) {
    return (
      <section class="compared-branch" aria-label={name}>
        <h2>{name}: ends here</h2>
      </section>
    );
  }
  return (
    <section class="compared-branch" aria-label={name}>
      <h2>
        <Link to={sessionPlace(sessionKey, row)}>
          {name}: {plural(turnCount, "turn")}
        </Link>
      </h2>
      <Sums head={sums} />
      {turns.map((turn, at) => (
        <Turn key={turn.row} turn={turn} number={at + 1} sessionKey={sessionKey} />
      ))}
      {turnCount > turns.length ? (
        <p class="facts">{plural(turnCount - turns.length, "more turn")}</p>
      ) : null}
    </section>
  );
}

function Sums({ head }: { readonly head: TurnHead }): VNode {
  return (
    <>
      <HeadFacts head={head} />
      <Files head={head} />
    </>
  );
}

interface TurnProps {
  readonly turn: ComparedTurn;
  readonly number: number;
  readonly sessionKey: string;
}

function Turn({ turn: { row, prompt, answer, head }, number, sessionKey }: TurnProps): VNode {
  return (
    <article class="compared-turn">
      <h3>
        <span class="turn-number">{number}</span>{" "}
        <Link to={sessionPlace(sessionKey, row)}>{prompt || "(continues within a turn)"}</Link>
      </h3>
      {answer === "" ? null : <p class="compared-answer">{answer}</p>}
      <Sums head={head} />
    </article>
  );
}
