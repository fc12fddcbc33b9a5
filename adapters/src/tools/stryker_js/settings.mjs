// Reads the project's own Stryker configuration and decides which test runner serves a project that has none.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findPackage, readJson, runnerPlugin } from './locate.mjs';

const RUNNERS = ['vitest', 'jest', 'mocha', 'jasmine', 'cucumber', 'tap', 'karma'];

// The order in which Stryker itself looks; the first hit wins.
export function configFile(cwd, named) {
  if (named) return join(cwd, named);
  for (const prefix of ['', '.'])
    for (const suffix of ['conf', 'config'])
      for (const extension of ['json', 'js', 'mjs', 'cjs']) {
        const file = join(cwd, `${prefix}stryker.${suffix}.${extension}`);
        if (existsSync(file)) return file;
      }
  return undefined;
}

export async function userConfig(cwd, named) {
  const file = configFile(cwd, named);
  if (!file) return undefined;
  if (file.endsWith('.json')) {
    const json = readJson(file);
    if (!json) throw new Error(`${file} is not readable JSON`);
    return json;
  }
  const module = await import(pathToFileURL(file).href);
  return module.default ?? {};
}

function declared(cwd, runner) {
  const json = readJson(join(cwd, 'package.json')) ?? {};
  const all = { ...json.dependencies, ...json.devDependencies };
  if (new RegExp(`\\b${runner}\\b`).test(json.scripts?.test ?? '')) return 2;
  return runner in all ? 1 : 0;
}

// A runner counts when both it and Stryker's plugin for it can be loaded; else the project's test command serves.
export function guessRunner(cwd, core) {
  const usable = RUNNERS.filter((runner) => runnerPlugin(core, runner) && findPackage(runner, cwd));
  const best = (weight) => usable.find((runner) => declared(cwd, runner) === weight);
  return best(2) ?? best(1) ?? usable[0] ?? 'command';
}
