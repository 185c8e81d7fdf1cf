import { performance } from 'node:perf_hooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ChassisLink } from '../chassis/index.ts';
import { type TrialRequest, trialKinds } from '../motion/index.ts';
import { readChoice, servicePage, setPosePage, signInPage, surfacePage } from '../pages/index.ts';
import type { Answer, Settings } from './answers/answers.ts';
import { notConnected, type ReadResult } from './chassis/chassis-reads.ts';
import { peerAddress } from './connections/address.ts';
import { holdOpen } from './connections/connection.ts';
import { peerOf } from './connections/ip-address.ts';
import { scopeOf } from './connections/listener.ts';
import { contractHandlers } from './contract-handlers.ts';
import { deliveryHandlers } from './delivery/delivery-handlers.ts';
import { malformed, param, type SharedBody, sendJson, sendPage, sendRefusal, sendShared } from './http/answer.ts';
import type { Handler } from './http/handler.ts';
import { refusalOf, refuse } from './http/refusal.ts';
import { mediaContentPolicy } from './http/security-headers.ts';
import { incidentHandlers } from './incidents/incident-handlers.ts';
import { logLevelHandlers } from './log-level.ts';
import { mediaHandlers } from './media/media-handlers.ts';
import { EXPOSITION_TYPE, exposition } from './metrics/exposition.ts';
import { type MetricsSource, metricsOf } from './metrics/metrics.ts';
import { driveHandlers, poseHandlers, stopHandlers, tourHandlers } from './motion/motion-handlers.ts';
import type { Parts } from './parts.ts';
import type { PassedAnswer, Peer } from './peer.ts';
import { sessionHandlers } from './sign-in/session-handlers.ts';
import { supportHandlers } from './support-handlers.ts';
import { asked } from './view/asked.ts';

/** Checks the shape only; the motion module decides which trials are allowed. */
export const trialBody = z.strictObject({
  kind: z.enum(trialKinds),
  who: z.string().min(1).max(100),
  conditions: z.union([
    z.strictObject({ unattended: z.literal(true) }),
    z.strictObject({ robotWillMove: z.boolean(), spaceFree: z.boolean(), emergencyStopInHand: z.boolean() }),
  ]),
  towardsDeg: z.number().optional(),
  distanceM: z.number().optional(),
});
export const trialKeepAliveBody = z.strictObject({ id: z.string().min(1).max(200) });

export const checkBody = z.strictObject({ path: z.enum(['direct', 'fallback']) });

export const mapQuery = z.object({
  orLast: z.literal('true').optional().describe('Also the last map, from memory, while the chassis is not connected.'),
});

export type Handlers = ReturnType<typeof createHandlers>;

export function createHandlers(parts: Parts) {
  return {
    pages: pageHandlers(parts),
    chassis: chassisHandlers(parts),
    peers: peerHandlers(parts),
    session: sessionHandlers(parts),
    stop: stopHandlers(parts),
    tours: tourHandlers(parts),
    drives: driveHandlers(parts),
    delivery: deliveryHandlers(parts),
    pose: poseHandlers(parts),
    trial: trialHandlers(parts),
    evidence: evidenceHandlers(parts),
    media: mediaHandlers(parts),
    incidents: incidentHandlers(parts),
    cloud: cloudHandlers(parts),
    support: supportHandlers(parts),
    gateway: gatewayHandlers(parts),
    logLevel: logLevelHandlers(parts),
    contract: contractHandlers(parts),
  } satisfies Record<string, Record<string, Handler>>;
}

function trialHandlers({ motion, log }: Parts) {
  const { trials } = motion;
  return {
    read: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, { trial: trials.view() }),
    async start(request: FastifyRequest, reply: FastifyReply) {
      const body = trialBody.safeParse(request.body);
      if (!body.success) return () => sendRefusal(request, reply, malformed(body.error));
      const { kind, who } = body.data;
      try {
        const trial = await trials.start(body.data satisfies TrialRequest);
        log.warn({ audit: true, address: peerAddress(request), kind, who, trial: trial.id }, 'trial started');
        return () => sendJson(reply.code(202), { trial });
      } catch (error) {
        log.warn({ address: peerAddress(request), kind, who, error }, 'trial not started');
        return () => sendRefusal(request, reply, refusalOf(error));
      }
    },
    keepAlive(request: FastifyRequest, reply: FastifyReply) {
      const body = trialKeepAliveBody.safeParse(request.body);
      if (!body.success) return sendRefusal(request, reply, malformed(body.error));
      const trial = trials.keepAlive(body.data.id);
      if (trial !== null) return sendJson(reply, { trial });
      return sendRefusal(request, reply, refuse('NOT_FOUND', { message: 'Unknown trial id.' }));
    },
    async cancel(request: FastifyRequest, reply: FastifyReply) {
      log.warn({ audit: true, address: peerAddress(request) }, 'trial cancelled');
      const trial = await trials.cancel(`cancelled by ${peerAddress(request)}`);
      return () => sendJson(reply, { trial });
    },
  };
}

function evidenceHandlers({ motion, log }: Parts) {
  return {
    /** The current evidence file takes effect, on the order of a signed-in person. */
    async adopt(request: FastifyRequest, reply: FastifyReply) {
      try {
        const adoption = await motion.trials.adoptEvidence();
        log.warn({ audit: true, address: peerAddress(request), ...adoption }, 'evidence adopted');
        return () => sendJson(reply, adoption satisfies Answer<'adoption'>);
      } catch (error) {
        return () => sendRefusal(request, reply, refusalOf(error));
      }
    },
  };
}

function cloudHandlers({ cloud, checkCloudPath, sessions }: Parts) {
  let isChecking = false;
  return {
    read: (request: FastifyRequest, reply: FastifyReply) => sendJson(reply, cloud().view, sessions.has(request.raw)),

    /** One check at a time: each may move the link to the other path and back. */
    async checkPath(request: FastifyRequest, reply: FastifyReply) {
      const body = checkBody.safeParse(request.body);
      if (!body.success) return () => sendRefusal(request, reply, malformed(body.error));
      if (checkCloudPath === null) {
        return () => sendRefusal(request, reply, refuse('NOT_CONFIGURED', { message: 'No cloud is configured.' }));
      }
      if (isChecking) return () => sendRefusal(request, reply, refuse('BUSY'));
      isChecking = true;
      try {
        const { path, step, outcome } = await checkCloudPath(body.data.path);
        return () => sendJson(reply, { path, step, outcome } satisfies Answer<'pathCheck'>);
      } finally {
        isChecking = false;
      }
    },
  };
}

function pageHandlers({ site, pageState, sessions, assets }: Parts) {
  const asset = (name: string) => (request: FastifyRequest, reply: FastifyReply) => {
    const found = assets.get(name);
    if (!found) return sendRefusal(request, reply, refuse('NOT_FOUND'));
    return reply.header('cache-control', 'no-cache').type(found.contentType).send(found.body);
  };
  return {
    surface(request: FastifyRequest, reply: FastifyReply) {
      const { query, viewer } = asked(request, reply);
      const state = pageState();
      return sendPage(reply, surfacePage({ state, viewer }, readChoice(query.ziel, state.site, state.delivery)));
    },
    service(request: FastifyRequest, reply: FastifyReply) {
      const { query, viewer } = asked(request, reply);
      // Numbers in place of the map, for a page without script.
      if (query.setzen !== undefined && viewer.signedIn) {
        return sendPage(reply, setPosePage({ site: site.title ?? site.name, viewer, order: 'none' }));
      }
      return sendPage(reply, servicePage({ state: pageState(), viewer }));
    },
    signIn(request: FastifyRequest, reply: FastifyReply) {
      const { viewer } = asked(request, reply);
      const problem = sessions.unreadable ? 'SIGN_IN_UNAVAILABLE' : null;
      return sendPage(
        reply,
        signInPage({ site: site.title ?? site.name, viewer, isConfigured: sessions.configured, problem }),
      );
    },
    style: asset('style.css'),
    script: asset('main.js'),
  };
}

function chassisHandlers({ link, reads, outflow }: Parts) {
  async function pass(request: FastifyRequest, reply: FastifyReply, read: Promise<ReadResult>) {
    const passed = await read.catch(refusalOf);
    const send = () => {
      if (passed === 'busy') return sendRefusal(request, reply, refuse('BUSY'));
      if (passed === 'too-large') return sendRefusal(request, reply, refuse('MAP_TOO_LARGE'));
      if (passed === null) {
        return sendRefusal(request, reply, refuse('NOT_FOUND', { message: 'Not found on the chassis.' }));
      }
      return 'status' in passed ? sendRefusal(request, reply, passed) : sendShared(request, reply, outflow, passed);
    };
    if (!Buffer.isBuffer((passed as Partial<SharedBody> | null)?.body)) return send;
    // The bytes of a large body are counted only once it has a reader.
    const sent = send();
    return () => sent;
  }
  const orLast = ({ query }: FastifyRequest) => mapQuery.safeParse(query).data?.orLast !== undefined;
  return {
    deviceInfo: (request: FastifyRequest, reply: FastifyReply) => pass(request, reply, reads.deviceInfo()),
    maps: (request: FastifyRequest, reply: FastifyReply) => pass(request, reply, reads.maps(orLast(request))),
    map: (request: FastifyRequest, reply: FastifyReply) =>
      pass(request, reply, reads.map(param(request, 'id'), orLast(request))),
    mapImage: (request: FastifyRequest, reply: FastifyReply) =>
      pass(request, reply, reads.mapImage(param(request, 'id'), orLast(request))),
    state: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, chassisState(link)),
  };
}

function metricsSource({ link, motion, health, neighbours, cloud, supportView, events }: Parts): MetricsSource {
  const { user, system } = process.cpuUsage();
  const { view, now } = cloud();
  return {
    health: health(),
    snapshot: link.snapshot(),
    motion: motion.status(),
    cloud: view,
    support: supportView(),
    neighbours: neighbours(),
    followers: events.listeners(),
    process: {
      nodeVersion: process.versions.node,
      residentBytes: process.memoryUsage.rss(),
      cpuSeconds: (user + system) / 1e6,
      busySeconds: performance.eventLoopUtilization().active / 1_000,
    },
    now,
  };
}

/** The snapshot with a one-line summary for people; without the poses that its standing is judged from. */
function chassisState(link: ChassisLink) {
  const { poses: _poses, ...snapshot } = link.snapshot();
  const { link: state } = snapshot;
  const summary = state.kind === 'connected' ? 'connected' : notConnected(state).message;
  return { summary, ...snapshot };
}

function forward(reply: FastifyReply, { statusCode, contentType, body, isForeign }: PassedAnswer) {
  reply.code(statusCode).header('content-type', contentType);
  // A page of a device must not run with the rights of a page of this gateway.
  if (isForeign) reply.header('content-security-policy', mediaContentPolicy);
  return reply.send(body);
}

function peerHandlers({ voice, building }: Parts) {
  const read = (what: string, peer: Peer | null) => async (request: FastifyRequest, reply: FastifyReply) => {
    if (peer === null) {
      return () => sendRefusal(request, reply, refuse('NOT_CONFIGURED', { message: `No ${what} is configured.` }));
    }
    const passed = await peer.read().catch(refusalOf);
    return () => ('status' in passed ? sendRefusal(request, reply, passed) : forward(reply, passed));
  };
  return { voiceService: read('voice service', voice), building: read('building module', building) };
}

function gatewayHandlers(parts: Parts) {
  const { site, health, neighbours, sessions, journal, clientAborts, events, lastHour } = parts;
  return {
    metrics: (_request: FastifyRequest, reply: FastifyReply) =>
      reply.header('content-type', EXPOSITION_TYPE).send(exposition(metricsOf(metricsSource(parts)))),
    health: (request: FastifyRequest, reply: FastifyReply) => sendJson(reply, health(), sessions.has(request.raw)),
    neighbours: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, neighbours()),
    lastHour: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, lastHour()),
    logs: (_request: FastifyRequest, reply: FastifyReply) =>
      sendJson(reply, { entries: journal.entries(), audit: journal.audit(), clientAborts: clientAborts() }),
    /** Listed explicitly, so that a new key of the site file is not exposed by accident. */
    settings: (_request: FastifyRequest, reply: FastifyReply) =>
      sendJson(reply, {
        name: site.name,
        title: site.title,
        chassis: {
          host: site.chassis.host,
          port: site.chassis.port,
          serial: site.chassis.serial,
          mac: site.chassis.mac ?? null,
        },
        operator: {
          port: site.operator.port,
          names: site.operator.names,
          passwordConfigured: sessions.configured,
          tourNeedsSignIn: site.operator.tourNeedsSignIn,
          screen: {
            dimAfterMinutes: site.operator.screen?.dimAfterMinutes ?? null,
            night: site.operator.screen?.night ?? null,
            shift: site.operator.screen?.shift ?? false,
          },
          voice: publicUrl(site.operator.voice?.url),
          building: publicUrl(site.operator.building?.url),
        },
        stations: site.stations,
        dock: site.dock ?? null,
        tours: site.tours,
        motion: {
          requireVerified: site.motion.requireVerified,
          moveLimitS: site.motion.moveLimitS,
          unownedMove: site.motion.unownedMove,
        },
      } satisfies Settings),
    events(request: FastifyRequest, reply: FastifyReply) {
      reply.header('content-type', 'text/event-stream; charset=utf-8');
      if (request.method === 'HEAD') return reply.send();
      const listener = { scope: scopeOf(request.raw), peer: peerOf(peerAddress(request)) };
      if (!events.evictFor(listener)) {
        return sendRefusal(request, reply.header('content-type', 'application/json'), refuse('BUSY'));
      }
      reply.hijack();
      const { raw } = reply;
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) raw.setHeader(name, value);
      }
      raw.setHeader('x-accel-buffering', 'no');
      raw.writeHead(200);
      holdOpen(request.raw);
      events.add(raw, listener);
      return reply;
    },
  };
}

/** Removes user name, password and query of a URL. */
function publicUrl(url: string | undefined): string | null {
  if (url === undefined) return null;
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  shown.search = '';
  return shown.href;
}
