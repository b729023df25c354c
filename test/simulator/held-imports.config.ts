/** The name of the global function through which every import goes while worlds are entered. */
export const HOLD_IMPORT = 'holdWorldForImport';

/** Makes every `import()` of the sources stop the time of its world until the module is loaded. */
export function heldImports(): {
  name: string;
  enforce: 'post';
  transform: (code: string, id: string) => string | undefined;
} {
  return {
    name: 'held-imports',
    enforce: 'post',
    transform(code, id) {
      if (!/\/src\/.*\.ts$/.test(id)) return undefined;
      return code.replaceAll(
        /\bimport\(("[^"]*"|'[^']*')\)/g,
        `(globalThis.${HOLD_IMPORT} ?? ((load) => load()))(() => import($1))`,
      );
    },
  };
}
