// Puts every suspect behind Stryker's own switch and runs the project's test command with one of them on.
//   confirm.mjs instrument      rewrites the suspects' files in place, once
//   confirm.mjs run N COMMAND…  runs COMMAND with suspect N on; `-` for none
// The whole suite runs as the project runs it: no coverage data, no test filter, no hot reload can hide a failure.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { entry, findCore, findPackage, readJson, upward } from './locate.mjs';

const LOST = 97;
const cwd = process.cwd();
const ids = new URL('./suspects.json', import.meta.url);
const at = ({ start, end }) => [start.line + 1, start.column + 1, end.line + 1, end.column + 1].join();

async function instrument() {
  const core = findCore(cwd);
  const instrumenter = await import(pathToFileURL(entry(findPackage('@stryker-mutator/instrumenter', core.dir))).href);
  const quiet = () => false;
  const logger = { isDebugEnabled: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
  const { suspects } = readJson(new URL('./suspects.request.json', import.meta.url));
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const files = [...new Set(suspects.map(({ file }) => file))].map((file) => {
    return { name: resolve(cwd, file), content: readFileSync(resolve(cwd, file), 'utf8'), mutate: true };
  });
  const result = await new instrumenter.Instrumenter(logger).instrument(files, options);
  for (const file of result.files) {
    const { content } = await instrumenter.disableTypeChecks(file, options);
    writeFileSync(file.name, content);
  }
  const found = suspects.map(({ file, span, operator, replacement }) => {
    const same = result.mutants.find((mutant) =>
      mutant.fileName === resolve(cwd, file) && at(mutant.location) === span.join() &&
      mutant.mutatorName === operator && mutant.replacement === replacement);
    return same?.id ?? null;
  });
  writeFileSync(ids, JSON.stringify(found));
}

function run(number, [program, ...args]) {
  const id = number === '-' ? undefined : (readJson(ids)?.[Number(number)] ?? null);
  if (id === null) {
    process.stderr.write('polymut: this version of Stryker does not make the suspected mutant again\n');
    process.exit(LOST);
  }
  const path = [...upward(cwd).map((folder) => join(folder, 'node_modules', '.bin')), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, ...(id !== undefined && { __STRYKER_ACTIVE_MUTANT__: id }) };
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  child.on('error', (error) => {
    process.stderr.write(`polymut: ${error.message}\n`);
    process.exit(LOST);
  });
  child.on('exit', (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code)));
}

const [what, number, ...command] = process.argv.slice(2);
if (what === 'instrument') await instrument();
else run(number, command);
