// Polymut's Stryker plugin: an ignorer that leaves out what was not chosen, and a reporter that writes one JSON line
// per event, so that a run that is stopped keeps its results. Workers import this file too: nothing happens at load.
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { readJson } from './locate.mjs';

const NOT_CHOSEN = 'polymut: not chosen';
const LEFT_OUT = "left out by the project's own `mutate` setting";
const events = new URL('./events.ndjson', import.meta.url);
const report = new URL('./mutation.json', import.meta.url);
const say = (event) => appendFileSync(events, JSON.stringify(event) + '\n');
const shown = (file) => relative(process.cwd(), file).split(sep).join('/');

// A sandbox lies elsewhere in each run; reports must not differ by that.
const placeless = (text) => text?.replaceAll(process.cwd() + sep, '').replaceAll(process.cwd(), '.');

const before = (a, b) => a.line < b.line || (a.line === b.line && a.column <= b.column);

class Ignorer {
  #request;
  #leftOut;
  #seen = new Set();

  #load() {
    this.#request ??= readJson(new URL('./request.json', import.meta.url));
    this.#leftOut ??= JSON.parse(process.env.POLYMUT_STRYKER_LEFT_OUT ?? '[]');
  }

  // Babel's path knows its file. Where a later version hides it, nothing is left out: more is tested, never less.
  shouldIgnore(path) {
    const name = path.hub?.file?.opts?.filename;
    if (!name) return undefined;
    this.#load();
    const file = shown(name);
    if (!this.#request.files.includes(file)) return NOT_CHOSEN;
    if (!this.#seen.has(file)) {
      this.#seen.add(file);
      say({ event: 'file', file });
    }
    if (this.#leftOut.includes(file)) return LEFT_OUT;
    // Scripts inside markup count lines from their own start.
    if (!path.node.loc || /\.(vue|svelte|html?)$/i.test(file)) return undefined;
    return this.#wanted(file, path.node.loc) ? undefined : NOT_CHOSEN;
  }

  #wanted(file, { start, end }) {
    const spans = this.#request.spans?.[file];
    if (spans) {
      return spans.some(
        ([line, column, lastLine, lastColumn]) =>
          before(start, { line, column: column - 1 }) && before({ line: lastLine, column: lastColumn - 1 }, end),
      );
    }
    const lines = this.#request.lines?.[file];
    return !lines || lines.some(([first, last]) => start.line <= last && end.line >= first);
  }
}

const unchosen = ({ status, statusReason }) => status === 'Ignored' && statusReason === NOT_CHOSEN;

class Reporter {
  #total = 0;
  #done = 0;
  #notChosen = 0;

  onDryRunCompleted({ result, timing }) {
    const hits = [result.mutantCoverage?.static, ...Object.values(result.mutantCoverage?.perTest ?? {})];
    say({
      event: 'dry',
      tests: result.tests.map(({ id, name, fileName }) => [id, fileName ? `${shown(fileName)}: ${name}` : name]),
      covered: hits.some((counts) => counts && Object.keys(counts).length > 0),
      seconds: (timing.net + timing.overhead) / 1000,
    });
  }

  onMutationTestingPlanReady({ mutantPlans }) {
    this.#total = mutantPlans.filter(({ mutant }) => !unchosen(mutant)).length;
    say({ event: 'plan', total: this.#total });
  }

  onMutantTested({ fileName, ...mutant }) {
    if (unchosen(mutant)) {
      this.#notChosen += 1;
      return;
    }
    mutant.statusReason = placeless(mutant.statusReason);
    say({ event: 'mutant', file: shown(fileName), mutant });
    this.#done += 1;
    process.stdout.write(`polymut ${this.#done}/${this.#total} ${mutant.status}\n`);
  }

  onMutationTestReportReady(result) {
    const part = new URL('./mutation.json.part', import.meta.url);
    writeFileSync(part, JSON.stringify(result));
    renameSync(part, report);
    say({ event: 'end', notChosen: this.#notChosen });
  }
}

export const strykerPlugins = [
  { kind: 'Ignore', name: 'polymut', value: new Ignorer() },
  { kind: 'Reporter', name: 'polymut', injectableClass: Reporter },
];
