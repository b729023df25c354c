/** The tool's version: package.json's, put in by the build and by the test runner. */
export const VERSION: string = SVC_VERSION;

declare const SVC_VERSION: string;
