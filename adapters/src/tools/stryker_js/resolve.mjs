// A module hook: what a package of the store imports and the store lacks (vitest, jest, mocha) is the project's own.
import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

// Node names modules by their real paths; the store's folder may be reached through a link.
const store = pathToFileURL(realpathSync(process.env.POLYMUT_STRYKER_STORE) + '/').href;
const project = pathToFileURL(process.cwd() + '/package.json').href;

export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!context.parentURL?.startsWith(store)) throw error;
    return next(specifier, { ...context, parentURL: project });
  }
}
