// Writes facts.json: versions of Node, Stryker, runner and plugins, and what the project's configuration says.
import { existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findCore, findPackage, readJson, runnerPlugin, upward } from './locate.mjs';
import { configFile, guessRunner, userConfig } from './settings.mjs';

const cwd = process.cwd();
const request = readJson(new URL('./request.json', import.meta.url)) ?? {};
const core = findCore(cwd);
const facts = { 'node.version': process.versions.node };
const put = (name, value) => {
  if (value !== undefined && value !== null) facts[name] = String(value);
};
const within = upward(cwd).slice(0, (request.levels ?? 0) + 1);
put('node_modules', within.some((folder) => existsSync(join(folder, 'node_modules'))) ? 'yes' : 'no');
let config;
try {
  config = await userConfig(cwd, request.config);
  if (config) put('config', basename(configFile(cwd, request.config)));
} catch (error) {
  put('config', basename(configFile(cwd, request.config)));
  put('config.error', String(error.message).split('\n')[0].replaceAll(cwd, '.'));
}
if (core) {
  put('tool.version', core.json.version);
  put('tool.engines', core.json.engines?.node);
  put('tool.from', core.from);
  const runner = config ? (config.testRunner ?? 'command') : guessRunner(cwd, core);
  put('runner', runner);
  put('runner.version', findPackage(runner, cwd)?.json.version);
  put('plugin.version', runnerPlugin(core, runner)?.json.version);
  if (runner === 'command') put('command', config?.commandRunner?.command ?? 'npm test');
  put('coverage', config?.coverageAnalysis ?? 'perTest');
  put('runner.config', config?.[runner]?.configFile);
}
put('typescript.version', findPackage('typescript', cwd)?.json.version);
writeFileSync(new URL('./facts.json', import.meta.url), JSON.stringify(facts));
