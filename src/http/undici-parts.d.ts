// The parts of undici that the core needs. Importing the whole package costs three times the start-up.
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  type Callback = (error: Error | null, data: Dispatcher.ResponseData) => void;

  interface RequestHandler extends Dispatcher.DispatchHandler {
    onConnect(abort: (reason?: Error) => void): void;
  }

  function request(options: object, callback: Callback): void;

  namespace request {
    const RequestHandler: new (options: object, callback: Callback) => RequestHandler;
  }

  export default request;
}
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici';
}
declare module 'undici/lib/core/symbols.js' {
  const symbols: { readonly kParser: symbol };
  export default symbols;
}
