/** `branchlog/omp`. oh-my-pi's `SessionManager` on the engine. */
export * from "@branchlog/agents/omp";
