/** `branchlog/connectonion`. The YAML documents in which ConnectOnion keeps its sessions. */
import "@branchlog/agents";
export * from "@branchlog/agents/connectonion";
