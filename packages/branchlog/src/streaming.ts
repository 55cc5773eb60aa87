/** `branchlog/streaming`. JSON lines of any size as a stream, with exact byte offsets. */
export * from "@branchlog/streaming";
