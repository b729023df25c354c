/** The store's path of a job's request file. */
export function requestObject(job: string): string {
  return `/store/requests/${job}.csv`;
}

/** The store's path of a job's result file. */
export function resultObject(job: string): string {
  return `/store/results/${job}.csv`;
}

/** The job that an object belongs to; undefined for a path that is no object. */
export function jobOfObject(path: string): string | undefined {
  return /^\/store\/(?:requests|results)\/([0-9a-f-]{36})\.csv$/.exec(path)?.[1];
}
