/** The frame of the page: the bar at the top, the view of the current place, dialogs over it. */
import { useEffect } from "preact/hooks";
import type { VNode } from "preact";
import { BranchSign } from "./branch-sign.tsx";
import { ComparePage } from "./compare-view.tsx";
import { ContextPage } from "./context-view.tsx";
import { CostsView } from "./costs-view.tsx";
import { isExported } from "./exported.ts";
import { KeyHelp, openKeyHelp } from "./key-help.tsx";
import { useKeys } from "./keyboard.ts";
import { isConnected } from "./live-events.ts";
import type { Route } from "./model/route.ts";
import { Link, go, route } from "./navigation.tsx";
import { Notice } from "./notice.tsx";
import { openSession } from "./open-session.ts";
import { Palette, openPalette } from "./palette.tsx";
import { QuestionDialog } from "./question.tsx";
import { SearchView } from "./search-view.tsx";
import { titleOf } from "./model/session-title.ts";
import { ConversationView } from "./conversation-view.tsx";
import { EntriesView } from "./entries-view.tsx";
import { SessionsView } from "./sessions-view.tsx";
import { nextTheme, themeName } from "./theme.ts";

export function App(): VNode {
  const place = route.value;
  const commands = {
    "?": openKeyHelp,
    "/": () => go({ kind: "search", query: "", isRegex: false }),
    T: nextTheme,
    Escape: () => go({ kind: "sessions" }),
  };
  useKeys(commands, "frame");
  const title = titleOfPlace(place);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      <TopBar place={place} />
      <main>
        <View place={place} />
      </main>
      <Notice />
      <Palette />
      <KeyHelp />
      <QuestionDialog />
    </>
  );
}

function TopBar({ place }: { readonly place: Route }): VNode {
  return (
    <header class="top">
      <nav aria-label="Views">
        <Link class="brand" to={{ kind: "sessions" }} isCurrent={place.kind === "sessions"}>
          <BranchSign />
          Branchlog
        </Link>
        {isExported ? null : <ServerLinks place={place} />}
      </nav>
      {isConnected.value ? null : (
        <span class="chip error" role="status">
          not connected
        </span>
      )}
      <button type="button" class="go-to" onClick={openPalette}>
        Go to… <kbd>Ctrl K</kbd>
      </button>
      <button
        type="button"
        aria-label={`Theme: ${themeName()}`}
        title="Theme (T)"
        onClick={nextTheme}
      >
        {{ auto: "◐", light: "☀", dark: "☾" }[themeName()]}
      </button>
      <button type="button" aria-label="Keys" title="Keys (?)" onClick={openKeyHelp}>
        ?
      </button>
    </header>
  );
}

/** Features that a file does not have. */
function ServerLinks({ place }: { readonly place: Route }): VNode {
  return (
    <>
      <Link to={{ kind: "search", query: "", isRegex: false }} isCurrent={place.kind === "search"}>
        Search
      </Link>
      <Link to={{ kind: "costs", by: "session" }} isCurrent={place.kind === "costs"}>
        Costs
      </Link>
    </>
  );
}

function View({ place }: { readonly place: Route }): VNode {
  switch (place.kind) {
    case "sessions":
      return <SessionsView />;
    case "session":
      return <ConversationView sessionKey={place.key} row={place.row} entryId={place.entryId} />;
    case "entries":
      return <EntriesView sessionKey={place.key} row={place.row} />;
    case "context":
      return <ContextPage sessionKey={place.key} row={place.row} />;
    case "compare":
      return <ComparePage sessionKey={place.key} from={place.from} to={place.to} />;
    case "search":
      return <SearchView query={place.query} isRegex={place.isRegex} facets={place.facets ?? {}} />;
    case "costs":
      return <CostsView by={place.by} filter={place.filter ?? {}} />;
    case "absent":
      return (
        <section class="page">
          <h1>No such page</h1>
          <p>{place.path}</p>
        </section>
      );
  }
}

function titleOfPlace(place: Route): string {
  const open = openSession.value;
  if ((place.kind === "session" || place.kind === "entries") && open !== null)
    return `${titleOf(open.facts.item)} · Branchlog`;
  return place.kind === "sessions" ? "Branchlog" : `${place.kind} · Branchlog`;
}
