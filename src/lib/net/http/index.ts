/// <reference path="./undici-parts.d.ts" />
/**
 * The HTTP client library, in the parts that gw uses. Its entry point loads fetch, WebSocket, caches and mocks as well, four
 * times as many files: 30 ms of each command that asks a chassis, and 6 MB of the daemon (measured).
 */
import type { Dispatcher } from 'undici';
import apiRequest from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';

export type { Dispatcher };
export { Agent, Client, Pool };

/** One request over these connections. Follows no redirect and decompresses nothing; rejects as the library does. */
export function requestOver(
  dispatcher: Dispatcher,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> {
  return apiRequest.call(dispatcher, options);
}
