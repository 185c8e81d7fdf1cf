import type { IncomingMessage } from 'node:http';
import cookie from '@fastify/cookie';
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { asGwError, GwError } from '../error/index.ts';
import { orAfter } from '../lifecycle/index.ts';
import type { Viewer } from '../pages/index.ts';
import type { Title } from '../text/index.ts';
import { buildOf, loadAssets } from './assets.ts';
import { createChassisReads } from './chassis/chassis-reads.ts';
import { peerAddress } from './connections/address.ts';
import { isClientAbort } from './connections/client-abort.ts';
import { type RequestHandler, scopeOf } from './connections/listener.ts';
import { createOutflow } from './connections/outflow.ts';
import { createHandlers } from './handlers.ts';
import { addRoutes } from './http/add-routes.ts';
import { sendRefusal } from './http/answer.ts';
import { MAX_BODY_BYTES } from './http/body-limits.ts';
import { refuseOtherRobot } from './http/other-robot.ts';
import { createPathFilter } from './http/path-filter.ts';
import { createPolicy, formFields, refuseChunks } from './http/policy.ts';
import { type Refusal, refusalOf, refuse } from './http/refusal.ts';
import { securityHeaders } from './http/security-headers.ts';
import { withoutQueries } from './http/without-queries.ts';
import { openIncidents } from './incidents/incidents.ts';
import { createJournal } from './journal.ts';
import { createLogLevel, type LogSetting } from './log-level.ts';
import { createMediaLibrary } from './media/media.ts';
import { notAnUpload } from './media/media-handlers.ts';
import type { OperatorOptions } from './model.ts';
import { createPeer } from './peer.ts';
import { ROBOT_HEADER, type Route, routes } from './routes.ts';
import { followPasswordFile } from './sign-in/password-file.ts';
import { createSessions } from './sign-in/sessions.ts';
import { createSignIn, type SignIn } from './sign-in/sign-in.ts';
import { noSupport } from './support-handlers.ts';
import { createLastHour } from './view/last-hour.ts';
import { createLivePages } from './view/live-pages.ts';
import type { createRuns } from './view/run-view.ts';
import { viewerOf } from './view/viewer.ts';

/** Project decision. */
const STATE_DISK_MS = 3_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The row of the route table that the router matched. */
    row?: Route;
  }
  interface FastifyInstance {
    readonly siteName: () => Title;
    /** Who looks at a page: by the socket, the session and the language of the request. */
    readonly viewerOf: (request: FastifyRequest) => Viewer;
    readonly withoutPaths: <T>(data: T) => T;
  }
}

/** The one application behind both sockets. */
export interface Application {
  readonly handle: RequestHandler;
  /** What is wrong with the file of the device password; null when nothing is, or none is configured. */
  readonly signInTrouble: string | null;
  /** Whether a request is handled before all others. Affects the order only, never the permission. */
  isUrgent(request: IncomingMessage): boolean;
  /** Ends live streams; responses in progress are completed. */
  endStreams(): void;
  close(): Promise<void>;
}

/** Creates the application without a listener. STOP and pages work without a readable password file. */
export async function createApplication(
  options: OperatorOptions,
  { failedDrive, runs }: ReturnType<typeof createRuns>,
): Promise<Application> {
  const { site, link, motion, clock, assetsDir, hostName } = options;
  const cloud = () => ({ view: withoutQueries(options.cloud()), now: clock.wall() });
  const supportView = () => withoutQueries(options.support?.view() ?? noSupport);
  const journal = options.journal ?? createJournal(options.log, clock);
  const { log } = journal;
  const logLevel = createLogLevel(options.logSetting ?? fixedLevel, clock, log);
  let clientAborts = 0;
  let signIn: SignIn | 'unreadable' | null = null;
  const passwordFile = await followPasswordFile({
    path: site.operator.passwordFile,
    clock,
    log,
    // A new one starts without the sessions and marks of the old password.
    onPassword(password) {
      signIn = typeof password === 'string' ? password : password && createSignIn(password, clock);
    },
  });

  const app: FastifyInstance = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    // The peer address comes from the operating system, never from a header.
    trustProxy: false,
    requestIdHeader: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 400 },
    // Bodies are validated by zod schemas in the handlers, so the validator of the framework is not loaded.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    frameworkErrors: (error, request, reply) => {
      protect(reply);
      sendRefusal(request, reply, scopeOf(request.raw) === 'read-only' ? refuse('READ_ONLY') : fromFramework(error));
    },
  });
  const withoutPaths = createPathFilter(site);
  app.decorate('siteName', () => site.title ?? site.name);
  app.decorate('withoutPaths', withoutPaths);
  await app.register(cookie, { hook: false });
  // Pages of other sites may post text/plain without a CORS preflight.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, formFields(body as string));
  });

  const sessions = createSessions(() => signIn, passwordFile.refresh, app.parseCookie);
  app.decorate('viewerOf', viewerOf(sessions, app.parseCookie));
  const policy = createPolicy({
    names: [...(hostName === undefined ? [] : [hostName]), ...site.operator.names],
    isSignedIn: (request) => sessions.has(request),
  });
  const library = createMediaLibrary(site.operator.mediaDir, {
    quotaBytes: site.disk.mediaMb * 1_000_000,
    reserveBytes: site.disk.reserveMb * 1_000_000,
  });
  // A failure must not keep the server from starting; the gateway health reports the folder.
  await library.tidy().catch((error) => log.warn({ error: asGwError(error).message }, 'media folder cleanup failed'));
  const assets = await loadAssets(assetsDir, (name) => log.warn({ name, assetsDir }, 'page asset missing'));
  const outflow = createOutflow(clock);
  const reads = createChassisReads(link, site.chassis.serial, outflow);
  const lastHour = createLastHour(() => link.snapshot(), clock);
  // A disk that does not answer must not keep the server from starting.
  await orAfter(clock, STATE_DISK_MS, failedDrive.start());
  const followed = motion.subscribe(() => runs.follow(motion.runs()));
  const live = createLivePages({
    ...options,
    ...{ cloud, support: supportView, failedDrive, runs, withoutPaths },
    build: buildOf(assets),
  });
  const { events } = live;
  const incidents = openIncidents({
    ...{ site, link, clock, log, journal, withoutPaths, subscribe: live.follow },
    version: options.health().version,
    look: live.sight,
  });
  const { voice, building } = site.operator;
  const peers = {
    voice: voice ? createPeer({ what: 'voice service', url: voice.url, path: '/config', passes: 'json' }, clock) : null,
    building: building
      ? createPeer({ what: 'building module', url: building.url, path: '/status', passes: 'anything' }, clock)
      : null,
  };
  const handlers = createHandlers({
    ...options,
    ...peers,
    cloud,
    supportView,
    pageState: live.pageState,
    stateAgeMs: live.stateAgeMs,
    endAsked: (id) => runs.endAsked(motion.status(), id),
    failedSeen: failedDrive.seen,
    lastHour: lastHour.view,
    log,
    assets,
    journal,
    logLevel,
    clientAborts: () => clientAborts,
    reads,
    events,
    library,
    incidents,
    outflow,
    sessions,
  });

  app.addHook('onRequest', (request, reply, done) => {
    protect(reply);
    const { serial } = site.chassis;
    reply.header(ROBOT_HEADER, serial);
    const { row } = request.routeOptions.config;
    const refusal =
      policy.judge(request.raw, scopeOf(request.raw), row) ??
      refuseOtherRobot(request.headers[ROBOT_HEADER], serial, row) ??
      refuseChunks(request, row);
    if (refusal === null) {
      done();
      return;
    }
    const { method, routeOptions } = request;
    const about = { address: peerAddress(request), method, route: routeOptions.url, code: refusal.body.error.code };
    log.debug(about, 'request refused');
    sendRefusal(request, reply, refusal);
  });
  app.setNotFoundHandler((request, reply) => sendRefusal(request, reply, refuse('NOT_FOUND')));
  app.setErrorHandler((error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const refusal = fromFramework(error, request.routeOptions.config?.row);
    const about = { error, route: request.routeOptions.url, address: peerAddress(request) };
    if (isClientAbort(error, request)) {
      clientAborts += 1;
      log.debug(about, 'client aborted its request');
    } else if (refusal.status >= 500) log.error(about, 'request failed');
    return sendRefusal(request, reply, refusal);
  });
  await addRoutes(app, handlers, clock);
  await app.ready();
  const urgent = new Set(routes.filter(({ isUrgent }) => isUrgent).map(({ method, path }) => `${method} ${path}`));

  return {
    handle: (request, response) => app.routing(request, response),
    isUrgent: ({ method, url = '' }) => method !== 'GET' && urgent.has(`${method} ${url.split('?', 1)[0]}`),
    get signInTrouble() {
      return passwordFile.trouble();
    },
    endStreams: () => events.end(),
    async close() {
      events.end();
      passwordFile[Symbol.dispose]();
      logLevel[Symbol.dispose]();
      lastHour[Symbol.dispose]();
      outflow[Symbol.dispose]();
      followed[Symbol.dispose]();
      await app.close();
      await Promise.all([
        failedDrive.stop(),
        incidents[Symbol.asyncDispose](),
        peers.voice?.[Symbol.asyncDispose](),
        peers.building?.[Symbol.asyncDispose](),
      ]);
    },
  };
}

/** Of a log whose level is not given into the hands of this server. */
const fixedLevel: LogSetting = { current: () => 'info', set: () => {} };

function noCompiler(): never {
  throw new RangeError('no route has a framework schema');
}

/** Not on the raw response: headers set there make Node use a slower path for all headers. */
function protect(reply: FastifyReply): void {
  for (const [name, value] of securityHeaders) reply.header(name, value);
}

/** Maps the errors of the web framework by their status. */
function fromFramework(error: unknown, row?: Route): Refusal {
  if (error instanceof GwError) return refusalOf(error);
  const { statusCode } = error as FastifyError;
  switch (statusCode) {
    case 400:
    case 414:
      return refuse('BAD_REQUEST');
    case 413:
      return refuse('TOO_LARGE');
    case 415:
      return row?.upload ? notAnUpload : refuse('UNSUPPORTED_TYPE');
    default:
      return refusalOf(error);
  }
}
