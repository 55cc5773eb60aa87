// The example of the format's document, on a file: `parsing-example.mjs UNUSED FILE`.
const [, file] = process.argv.slice(2);
const lines = [];
const text = await Bun.file(file).text();
for (const entry of Bun.JSONL.parse(text)) {
  switch (entry.type) {
    case "session":
      lines.push(`Session v${entry.version ?? 1}: ${entry.id}`);
      break;
    case "message":
      lines.push(`[${entry.id}] ${entry.message.role}: ${JSON.stringify(entry.message.content)}`);
      break;
    case "compaction":
      lines.push(`[${entry.id}] Compaction: ${entry.tokensBefore} tokens summarized`);
      break;
    case "branch_summary":
      lines.push(`[${entry.id}] Branch from ${entry.fromId}`);
      break;
    case "custom":
      lines.push(`[${entry.id}] Custom (${entry.customType}): ${JSON.stringify(entry.data)}`);
      break;
    case "custom_message":
      lines.push(`[${entry.id}] Custom message (${entry.customType}): ${entry.content}`);
      break;
    case "ttsr_injection":
      lines.push(`[${entry.id}] TTSR rules: ${entry.injectedRules.join(", ")}`);
      break;
    case "session_init":
      lines.push(`[${entry.id}] Init: ${entry.tools.join(", ")}`);
      break;
    case "label":
      lines.push(`[${entry.id}] Label "${entry.label}" on ${entry.targetId}`);
      break;
    case "model_change":
      lines.push(`[${entry.id}] Model: ${entry.model} (${entry.role ?? "default"})`);
      break;
    case "thinking_level_change":
      lines.push(`[${entry.id}] Thinking: ${entry.thinkingLevel}`);
      break;
  }
}
process.stdout.write(`${JSON.stringify(lines)}\n`, () => process.exit(0));
