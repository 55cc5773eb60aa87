/**
 * The `prepack` script of each package: ends with 1 unless pnpm packs. Tarballs of npm and yarn keep
 * `workspace:` and `catalog:` in place of versions, which no one can install.
 */
const agent = process.env.npm_config_user_agent ?? "";
if (!agent.startsWith("pnpm/")) {
  console.error(
    'Nothing was packed: only pnpm replaces "workspace:" and "catalog:" by versions. ' +
      'Run "npm run pack" in the root of the repository; it leaves tarballs in dist-packages/.',
  );
  process.exitCode = 1;
}
