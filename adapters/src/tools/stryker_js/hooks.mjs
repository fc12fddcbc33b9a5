// Loaded with --import into Stryker's test runner processes when Stryker comes from the store.
import { register } from 'node:module';

register('./resolve.mjs', import.meta.url);
