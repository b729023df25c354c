/** Waits until other code makes a condition true. A test that waits in vain ends at its own time limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
