/**
 * The library: the typed client of the service, its lists as async iterables, its logs as a stream that loses nothing,
 * and files to and from pre-signed addresses. Nothing here reads environment variables, stored settings or a terminal.
 */
export { AccountUpdater, Tenant, ThreeDs } from './client/api/resources.ts';
export { Client, type ClientOptions } from './client/api/client.ts';
export { Logs, type LogFilter } from './client/api/logs.ts';
export { type Page, type PageOptions, Pages } from './client/api/pages.ts';
export type { Clock } from './base/system.ts';
export { type ErrorCode, type ErrorDetails, EXIT_CODES, isSvcError, SvcError } from './base/errors.ts';
export type { ApiKey } from './client/http/core.ts';
export type { TimeLimits } from './client/http/watchdog.ts';
export type { Trace, TraceEvent } from './client/http/trace.ts';
export type { JobEvent, JobOptions } from './au/job/job.ts';
export { downloadResults, type ResultsOptions } from './au/results/download.ts';
export { uploadCheckedFile as uploadToJob } from './au/jobs/upload-checked.ts';
export { waitForJob, type WaitOptions } from './au/job/wait.ts';
export type { AccountUpdaterJob } from './schema/account-updater.ts';
export type { EntityType, Log } from './schema/log.ts';
export type { KeyType, Tenant as TenantRecord, TenantBody, UsageReport } from './schema/tenant.ts';
export type { AuthenticateRequest } from './schema/three-ds/authenticate.ts';
export type {
  AuthenticationResult,
  ChallengeResult,
  CreateSession,
  ThreeDsSession,
} from './schema/three-ds/session.ts';
export { followLogs, type FollowOptions } from './logs/tail/follow-logs.ts';
export type { TailEvent } from './logs/tail/follow.ts';
export type { TailPosition } from './logs/entry.ts';
export { type FilePart, fileSource, type UploadSource } from './client/transfer/source.ts';
