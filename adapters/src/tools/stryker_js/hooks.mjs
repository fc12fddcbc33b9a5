// For a Stryker from the store: what its packages want and the store lacks (vitest, jest, mocha) is the project's own.
// `import` asks the module hook, `require` the function that CommonJS resolves with. Loaded into Stryker's own process,
// and with --import into its test runner processes.
import { realpathSync } from 'node:fs';
import Module, { createRequire, register } from 'node:module';
import { join, sep } from 'node:path';

register('./resolve.mjs', import.meta.url);

const store = realpathSync(process.env.POLYMUT_STRYKER_STORE) + sep;
const project = createRequire(join(process.cwd(), 'package.json'));
const resolve = Module._resolveFilename;
Module._resolveFilename = function resolveFilename(request, parent, ...rest) {
  try {
    return resolve.call(this, request, parent, ...rest);
  } catch (error) {
    if (!parent?.filename?.startsWith(store)) throw error;
    return project.resolve(request);
  }
};
