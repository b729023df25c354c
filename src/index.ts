/**
 * The library: the typed client of the service, its lists as async iterables, its logs as a stream that loses nothing,
 * and files to and from pre-signed addresses. Nothing here reads the environment, the disk's settings or a terminal.
 */
export { AccountUpdater } from './api/account-updater.ts';
export { Client, type ClientOptions } from './api/client.ts';
export type { PageOptions } from './api/cursor-pages.ts';
export { Logs, type LogFilter } from './api/logs.ts';
export { type Page, Pages } from './api/pages.ts';
export { Tenant } from './api/tenant.ts';
export type { Clock } from './clock.ts';
export { type ErrorCode, type ErrorDetails, EXIT_CODES, isSvcError, SvcError } from './errors.ts';
export type { ApiKey } from './http/core.ts';
export type { TimeLimits } from './http/limits.ts';
export type { KeyKind } from './http/request.ts';
export type { Trace, TraceEvent } from './http/trace.ts';
export type { RunEvent, RunOptions } from './runs/events.ts';
export { downloadResults, type ResultsOptions } from './runs/results.ts';
export { uploadToJob } from './runs/upload.ts';
export { waitForJob, type WaitOptions } from './runs/wait.ts';
export type { AccountUpdaterJob } from './schema/account-updater.ts';
export type { EntityType } from './schema/entity-type.ts';
export type { Log } from './schema/log.ts';
export type { Tenant as TenantRecord } from './schema/tenant.ts';
export { followLogs, type FollowOptions } from './tail/follow-logs.ts';
export type { TailEvent } from './tail/options.ts';
export type { Standing } from './tail/state.ts';
export { type FilePart, fileSource, type UploadSource } from './transfer/source.ts';
