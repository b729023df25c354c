/**
 * The library: the typed client of the service, its lists as async iterables, its logs as a stream that loses nothing,
 * and files to and from pre-signed addresses. Nothing here reads the environment, the disk's settings or a terminal.
 */
export { AccountUpdater, Tenant } from './api/resources.ts';
export { Client, type ClientOptions } from './api/client.ts';
export { Logs, type LogFilter } from './api/logs.ts';
export { type Page, type PageOptions, Pages } from './api/pages.ts';
export type { Clock } from './system.ts';
export { type ErrorCode, type ErrorDetails, EXIT_CODES, isSvcError, SvcError } from './errors.ts';
export type { ApiKey } from './http/core.ts';
export type { TimeLimits } from './http/retry.ts';
export type { Trace, TraceEvent } from './http/exchange.ts';
export type { RunEvent, RunOptions } from './account-updater/job.ts';
export { downloadResults, type ResultsOptions } from './account-updater/results.ts';
export { uploadToJob } from './account-updater/upload.ts';
export { waitForJob, type WaitOptions } from './account-updater/wait.ts';
export type { AccountUpdaterJob } from './schema/account-updater.ts';
export type { EntityType, Log } from './schema/log.ts';
export type { KeyType, Tenant as TenantRecord } from './schema/tenant.ts';
export { followLogs, type FollowOptions } from './logs/follow-logs.ts';
export type { TailEvent } from './logs/follow.ts';
export type { TailPosition } from './logs/entry.ts';
export { type FilePart, fileSource, type UploadSource } from './transfer/source.ts';
