/** Runs the works, a few at a time, and resolves to how many succeeded: all of them, or it fails. */
export async function sideBySide(works: readonly (() => Promise<void>)[], workers = 3): Promise<number> {
  const left = [...works];
  let succeeded = 0;
  const worker = async (): Promise<void> => {
    for (let work = left.shift(); work; work = left.shift()) {
      await work();
      succeeded += 1;
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return succeeded;
}
