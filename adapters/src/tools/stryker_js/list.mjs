// Asks `stryker serve stdio` (JSON-RPC, Stryker 9.3 and newer) for every mutant of the requested files; no test runs.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const server = spawn(process.execPath, [here('./run.mjs'), 'serve', 'stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
let pending = Buffer.alloc(0);

function give(message) {
  waiting.get(message.id)?.(message);
  waiting.delete(message.id);
}

server.stdout.on('data', (data) => {
  pending = Buffer.concat([pending, data]);
  for (;;) {
    const head = pending.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/Content-Length: *(\d+)\s*$/i.exec(pending.subarray(0, head).toString())?.[1]);
    if (pending.length < head + 4 + length) return;
    const body = pending.subarray(head + 4, head + 4 + length).toString();
    pending = pending.subarray(head + 4 + length);
    give(JSON.parse(body));
  }
});
server.on('exit', (code) => fail(`stryker serve ended with exit code ${code} before it answered`));

function fail(text) {
  process.stderr.write(`polymut: ${text}\n`);
  server.kill();
  process.exit(1);
}

let last = 0;
function ask(method, params) {
  const id = (last += 1);
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  return new Promise((answer) => {
    waiting.set(id, ({ result, error }) => (error ? fail(`${method}: ${error.message}`) : answer(result)));
    server.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    server.stdin.write(body);
  });
}

await ask('configure', { configFilePath: here('./stryker.config.mjs') });
const { files } = await ask('discover', {});
const say = (event) => appendFileSync(new URL('./events.ndjson', import.meta.url), JSON.stringify(event) + '\n');
for (const [file, { mutants }] of Object.entries(files))
  for (const mutant of mutants) say({ event: 'listed', file, mutant: { status: 'listed', ...mutant } });
say({ event: 'end', notChosen: 0 });
server.removeAllListeners('exit');
server.kill();
