/** `branchlog/omp`. oh-my-pi's `SessionManager` on the engine. */
import "@branchlog/agents";
export * from "@branchlog/agents/omp";
