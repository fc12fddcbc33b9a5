// The configuration that Stryker is started with: the project's own, with what polymut must decide laid over it.
// Everything that depends on where this machine keeps files is worked out here, when Stryker reads it.
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entry, findCore, findPackage, officialPlugins, readJson } from './locate.mjs';
import { guessRunner, userConfig } from './settings.mjs';

const cwd = process.cwd();
const request = readJson(new URL('./request.json', import.meta.url));
const core = findCore(cwd);
const own = await userConfig(cwd, request.config);
const base = own ?? { testRunner: guessRunner(cwd, core) };
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

// One-character classes disarm every glob character, in the folder's own name as well. Measured with the minimatch
// versions of Stryker 8 to 10; a backslash would not do, Stryker turns it into a slash. Braces are expanded before
// classes are read, so `?` stands for one; what it matches beside is left out by the plugin.
const literal = (path) => path.replace(/[[\]*?(]/g, (char) => `[${char}]`).replaceAll('{', '?');

// A plugin by its bare name is found from the project, not from where the core happens to be installed.
function plugin(name) {
  if (isAbsolute(name) || name.startsWith('.') || name.startsWith('file:')) return [name];
  if (name === '@stryker-mutator/*') return [...officialPlugins(core).values()].map(entry).filter(Boolean);
  const found = name.includes('*') ? undefined : findPackage(name, cwd);
  return [(found && entry(found)) ?? name];
}

const MORE_THAN_LOGIC = [
  'ArithmeticOperator', 'ArrayDeclaration', 'ArrowFunction', 'AssignmentOperator', 'BlockStatement', 'CallExpression',
  'MethodExpression', 'ObjectLiteral', 'OptionalChaining', 'Regex', 'StringLiteral', 'UnaryOperator', 'UpdateOperator',
];
function mutator() {
  if (request.operators === 'all') return { ...base.mutator, excludedMutations: [] };
  if (request.operators !== 'logic') return base.mutator ?? {};
  return { ...base.mutator, excludedMutations: [...(base.mutator?.excludedMutations ?? []), ...MORE_THAN_LOGIC] };
}

// What the project's own `mutate` leaves out is ignored by polymut's plugin and so still listed, with that reason.
// Later patterns win; a range in a pattern is read as its whole file.
function leftOut() {
  if (!own?.mutate) return [];
  const { minimatch, default: older } = createRequire(join(core.dir, 'package.json'))('minimatch');
  const matches = minimatch ?? older;
  const wanted = (file) => {
    let yes = false;
    for (const pattern of own.mutate) {
      const negated = pattern.startsWith('!');
      const glob = resolve((negated ? pattern.slice(1) : pattern).replace(/:\d+(:\d+)?-\d+(:\d+)?$/, ''));
      if (matches(resolve(file), glob, { dot: false })) yes = !negated;
    }
    return yes;
  };
  return request.files.filter((file) => !wanted(file));
}
process.env.POLYMUT_STRYKER_LEFT_OUT = JSON.stringify(leftOut());

function runnerOptions() {
  if (request.related !== false) return {};
  return {
    vitest: { ...base.vitest, related: false },
    jest: { ...base.jest, enableFindRelatedTests: false },
  };
}

const cores = Math.max(1, Number(process.env.POLYMUT_STRYKER_CORES) || 1);
export default {
  ...base,
  ...runnerOptions(),
  mutate: request.files.map((file) => literal(resolve(cwd, file))),
  mutator: mutator(),
  plugins: [...new Set((base.plugins ?? ['@stryker-mutator/*']).flatMap(plugin))],
  appendPlugins: [...(base.appendPlugins ?? []).flatMap(plugin), here('./plugin.mjs')],
  ignorers: ['polymut', ...(base.ignorers ?? [])],
  reporters: ['polymut'],
  thresholds: { ...base.thresholds, break: null },
  concurrency: typeof base.concurrency === 'number' ? Math.min(base.concurrency, cores) : cores,
  timeoutFactor: Math.max(base.timeoutFactor ?? 0, request.timeoutFactor),
  timeoutMS: Math.max(base.timeoutMS ?? 0, request.timeoutMS),
  dryRunTimeoutMinutes: Math.max(base.dryRunTimeoutMinutes ?? 0, request.dryRunTimeoutMinutes),
  dryRunOnly: request.dryRunOnly === true,
  incremental: false,
  // The sandbox is disposable, so the files are mutated where they stand: what a test, a bundler or a tsconfig reads
  // above the package stays where it is. The backup lies under a folder name that every test runner passes over.
  inPlace: true,
  tempDirName: '.polymut-stryker/node_modules',
  cleanTempDir: 'always',
  allowEmpty: false,
  allowConsoleColors: false,
  logLevel: 'info',
  fileLogLevel: 'off',
  ...(core.from === 'store' && {
    testRunnerNodeArgs: [...(base.testRunnerNodeArgs ?? []), '--import', new URL('./hooks.mjs', import.meta.url).href],
  }),
};
