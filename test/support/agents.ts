/** Every test knows the agents, as every program that imports `branchlog` does. */
import "@branchlog/agents";
