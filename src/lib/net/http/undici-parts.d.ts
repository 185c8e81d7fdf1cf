/** The library describes the types of its entry point only. */
declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>;
}

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}

declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}

declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
