/** Must not compile: no error has this code. */
import { isBranchlogError } from "branchlog";

export const wrong: boolean = isBranchlogError(new Error("x"), "ERR_NO_SUCH_CODE");
