// Starts Stryker's own command line in this process, with polymut's configuration and the words that follow.
import { rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { coreBin, findCore } from './locate.mjs';

const core = findCore(process.cwd());
if (!core) {
  process.stderr.write('polymut: @stryker-mutator/core is neither in node_modules nor in the store\n');
  process.exit(127);
}
for (const name of ['events.ndjson', 'mutation.json']) rmSync(new URL(name, import.meta.url), { force: true });
if (core.from === 'store') await import('./hooks.mjs');
const [command, ...words] = process.argv.slice(2);
const config = command === 'run' ? [fileURLToPath(new URL('./stryker.config.mjs', import.meta.url))] : [];
process.argv = [process.argv[0], coreBin(core), command, ...config, ...words];
await import(pathToFileURL(coreBin(core)).href);
