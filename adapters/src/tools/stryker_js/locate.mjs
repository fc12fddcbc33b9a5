// Finds packages by walking node_modules folders upwards, as Node does, without asking any package manager.
// A walk finds what `require.resolve` hides behind `exports`, and follows hoisted, npm, yarn and pnpm layouts alike.
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LIBRARIES = ['core', 'api', 'util', 'instrumenter'];

export function upward(from) {
  const folders = [from];
  for (let at = from; dirname(at) !== at; at = dirname(at)) folders.push(dirname(at));
  return folders;
}

export function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

export function findPackage(name, from) {
  for (const folder of upward(from)) {
    const link = join(folder, 'node_modules', name);
    const json = readJson(join(link, 'package.json'));
    if (json) return { dir: realpathSync(link), json };
  }
  return undefined;
}

function fromStore(name) {
  const store = process.env.POLYMUT_STRYKER_STORE;
  return store ? findPackage(name, store) : undefined;
}

// The project's own core wins; the store's serves projects that have none.
export function findCore(cwd) {
  const own = findPackage('@stryker-mutator/core', cwd);
  if (own) return { ...own, from: 'project', home: cwd };
  const stored = fromStore('@stryker-mutator/core');
  return stored && { ...stored, from: 'store', home: process.env.POLYMUT_STRYKER_STORE };
}

export function coreBin(core) {
  const bin = core.json.bin;
  return join(core.dir, typeof bin === 'string' ? bin : bin.stryker);
}

export function entry({ dir, json }) {
  let at = json.exports?.['.'] ?? json.exports ?? json.main ?? 'index.js';
  while (typeof at === 'object' && at !== null) at = at.import ?? at.default ?? Object.values(at)[0];
  return typeof at === 'string' ? join(dir, at) : undefined;
}

// Stryker's own default looks beside the core only, which finds nothing in a pnpm layout.
export function officialPlugins(core) {
  const found = new Map();
  for (const folder of upward(core.home)) {
    const scope = join(folder, 'node_modules', '@stryker-mutator');
    if (!existsSync(scope)) continue;
    for (const name of readdirSync(scope).sort()) {
      if (LIBRARIES.includes(name) || found.has(name)) continue;
      const plugin = findPackage(`@stryker-mutator/${name}`, folder);
      if (plugin) found.set(name, plugin);
    }
  }
  return found;
}

export function runnerPlugin(core, runner) {
  return officialPlugins(core).get(`${runner}-runner`);
}
