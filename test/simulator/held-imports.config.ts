/** Name of the global function that is given every import which runs, once a world was entered. */
export const HOLD_IMPORT = 'holdWorldForImport';

/** Hands every `import()` of the sources to the world that it runs in: its time is to stand still meanwhile. */
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
