/** Where the working directory of a chat is, which it names by a hash only. */
import { dirname, join } from "node:path";

/** Next to `chats`, since 0.29. */
export function projectRootFile(path: string): string {
  return join(dirname(dirname(path)), ".project_root");
}
