/**
 * One set of observables for each `Session` and each drop-in session manager, made when it is first
 * asked for. When a manager goes to another session, its subscribers follow.
 */
import { LiveHub } from "./live-hub.ts";
import { LiveViews } from "./live-views.ts";
import { watchedSession } from "../session/watched-session.ts";

const made = new WeakMap<object, LiveViews>();

/**
 * The observables of a session or of a session manager; the same each time. While there is a
 * subscriber, the file is watched, the process stays alive, and the session sees appends of other
 * processes at once; the leaf of a manager stays. Observables of a session complete when it is
 * closed; those of a manager never do.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for anything but a session or manager of Branchlog.
 * @example
 * const manager = SessionManager.continueRecent(process.cwd());
 * live(manager).name$.subscribe(({ value }) => console.log(value));
 */
export function live(session: object): LiveViews {
  const known = made.get(session);
  if (known !== undefined) return known;
  const views = new LiveViews(new LiveHub(watchedSession(session)));
  made.set(session, views);
  return views;
}
