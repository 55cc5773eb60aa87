/** `branchlog/web`. The page over sessions, and the server behind it. */
export * from "@branchlog/web";
