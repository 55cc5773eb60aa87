/** `branchlog/connectonion`. The YAML documents in which ConnectOnion keeps its sessions. */
export * from "@branchlog/connectonion";
