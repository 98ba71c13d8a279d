import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/** A module of data becomes its values at the build: a bundle has them without the library of the schemas that they come from. */
export const computed: Plugin = {
  name: 'computed',
  setup({ onLoad }) {
    onLoad({ filter: /\/shown-fields\.ts$/ }, async ({ path }) => {
      const values: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href);
      const lines = Object.entries(values).map(
        ([name, value]) => `export const ${name} = ${JSON.stringify(value)};`,
      );
      return { contents: lines.join('\n'), loader: 'js' };
    });
  },
};
