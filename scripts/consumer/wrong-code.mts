/** Must not compile: no error has this code. */
import { isBranchlogError } from "@branchlog/core";

export const wrong: boolean = isBranchlogError(new Error("x"), "ERR_NO_SUCH_CODE");
