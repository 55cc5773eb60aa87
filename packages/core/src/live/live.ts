/**
 * Shows a drop-in session manager live: the same values and events as a `Session` has, of the log
 * that the manager stands on. It may go to another session meanwhile; who watches goes with it.
 */
import { LiveHub } from "./live-hub.ts";
import { LiveViews } from "./live-views.ts";
import { watchedSession } from "./watched-session.ts";

const views = new WeakMap<object, LiveViews>();

/**
 * What can be watched of a session manager; the same each time for one manager. While somebody
 * subscribes, the file is watched, the process stays alive, and the manager knows what other
 * processes appended as soon as that is seen; its leaf stays where it is. A manager has no end, so
 * nothing here completes.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for what is no manager of Branchlog.
 * @example
 * const manager = SessionManager.continueRecent(process.cwd());
 * live(manager).name$.subscribe(({ value }) => console.log(value));
 */
export function live(manager: object): LiveViews {
  const made = views.get(manager) ?? new LiveViews(new LiveHub(watchedSession(manager)));
  views.set(manager, made);
  return made;
}
