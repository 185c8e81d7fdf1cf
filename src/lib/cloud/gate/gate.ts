import { isRecord } from '../../json/index.ts';
import type { TunnelNotificationWire } from '../wire.ts';
import { readExecution } from './execution.ts';
import { count, displayText, type Fields, field, hasOther, matching, textListOf, textsOf } from './fields.ts';
import { type InboundTopic, inboundTopicOf, MAX_PAYLOAD_BYTES } from './inbound-topic.ts';
import type { Answer, Decision, DiscardReason, GateContext, InboundMessage } from './model.ts';
import { parsePayload } from './payload.ts';
import { decideStop } from './stop.ts';

type AnswerTopic = Extract<InboundTopic, { readonly kind: 'answer' }>;

/** Longer than any client token of this gateway. */
const CLIENT_TOKEN = /^[A-Za-z0-9-]{1,128}$/;
const MAX_MESSAGE_CHARACTERS = 500;
const REJECTION_CODE = /^[A-Za-z0-9_.-]{1,64}$/;

const storageNames = ['clientToken', 'url', 'headers', 'error'];
/** A pre-signed URL: printable ASCII. */
const URL_TEXT = /^https:\/\/[\x21-\x7e]{1,8184}$/i;
const headerRules = {
  key: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/,
  text: /^[\x20-\x7e]{0,4096}$/,
  maxEntries: 32,
} as const;

type ReadAnswer =
  | { readonly ok: true; readonly clientToken: string; readonly answer: Answer }
  | { readonly ok: false; readonly reason: DiscardReason };

const refuse = (reason: DiscardReason): ReadAnswer => ({ ok: false, reason });

/** An answer to a pending request of this gateway, matched by its client token and the topic of the request. */
function readAnswer(value: unknown, topic: AnswerTopic, context: GateContext): ReadAnswer {
  if (!isRecord(value)) return refuse('wrong-type');
  const clientToken = matching(field(value, 'clientToken'), CLIENT_TOKEN);
  const request = clientToken === null ? null : context.requestOf(clientToken);
  if (clientToken === null || request === null) return refuse('not-asked-for');
  if (request.kind !== topic.request || request.topic !== topic.requestTopic) return refuse('not-asked-for');
  if (request.state !== 'pending') return refuse(request.state === 'answered' ? 'duplicate' : 'late');
  const answer = topic.outcome === 'rejected' ? rejectedOf(value) : acceptedOf(value, topic, context);
  return typeof answer === 'string' ? refuse(answer) : { ok: true, clientToken, answer };
}

function acceptedOf(value: Fields, { request }: AnswerTopic, { serial }: GateContext): Answer | DiscardReason {
  switch (request) {
    case 'job-start':
    case 'job-get': {
      const execution = readExecution(field(value, 'execution'), serial);
      return typeof execution === 'string' ? execution : { kind: 'job', execution };
    }
    case 'job-update':
      return { kind: 'job-updated' };
    case 'shadow-update': {
      const version = count(field(value, 'version'));
      return version === null ? 'wrong-type' : { kind: 'shadow', version };
    }
    case 'storage':
      return storageOf(value);
  }
}

/** A rejection always reaches the request, if need be without its message: without it the request would wait in vain. */
function rejectedOf(value: Fields): Answer | DiscardReason {
  const given = field(value, 'code');
  const code = matching(given, REJECTION_CODE) ?? count(given);
  if (code === null) return 'wrong-type';
  const message = displayText(field(value, 'message'), MAX_MESSAGE_CHARACTERS) ?? '';
  return { kind: 'rejected', rejected: { code, message } };
}

/** Either a URL or the reason why there is none. */
function storageOf(value: Fields): Answer | DiscardReason {
  const given = { url: field(value, 'url'), headers: field(value, 'headers'), error: field(value, 'error') };
  if ((given.url === undefined) === (given.error === undefined)) return 'wrong-type';
  if (given.error !== undefined) {
    const error = displayText(given.error, MAX_MESSAGE_CHARACTERS);
    if (error === null || given.headers !== undefined) return 'wrong-type';
    return hasOther(value, storageNames) ? 'unknown-field' : { kind: 'storage', storage: { error } };
  }
  const url = matching(given.url, URL_TEXT);
  const headers = given.headers === undefined ? undefined : textsOf(given.headers, headerRules);
  if (url === null || headers === null || !URL.canParse(url)) return 'wrong-type';
  if (hasOther(value, storageNames)) return 'unknown-field';
  return { kind: 'storage', storage: { url, ...(headers !== undefined && { headers }) } };
}

const names = ['clientAccessToken', 'clientMode', 'region', 'services'];

const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const NAME = /^[A-Za-z0-9-]{1,64}$/;
/** @source vendor (HINWEIS) */
const SERVICE = /^[A-Za-z0-9:_-]{1,128}$/;
/**
 * A notification of the tunnel service. An unknown field is refused, since it could change what is asked for. Any number of
 * services passes, so that the receiver can record a request for none or too many.
 */
function readNotification(value: unknown): TunnelNotificationWire | 'wrong-type' | 'unknown-field' {
  if (!isRecord(value)) return 'wrong-type';
  const clientAccessToken = matching(field(value, 'clientAccessToken'), TOKEN);
  const clientMode = matching(field(value, 'clientMode'), NAME);
  const region = matching(field(value, 'region'), NAME);
  const services = textListOf(field(value, 'services') ?? [], SERVICE);
  if (clientAccessToken === null || clientMode === null || region === null || services === null) return 'wrong-type';
  if (hasOther(value, names)) return 'unknown-field';
  return { clientAccessToken, clientMode, region, services };
}

/** States in which a release can be offered; all others are an end. */
const offered: readonly string[] = ['QUEUED', 'IN_PROGRESS'];

/**
 * Decides what a received message is. Nothing else reads foreign payloads, and everything else acts on its result only:
 * a release, a stop, a tunnel notification, the answer to a request of this gateway, or nothing. Never throws.
 * The table of all decisions is in docs/cloud.md, 'What gw accepts'.
 * @source specification, 'Core network rule' 3
 */
export function decide(message: InboundMessage, context: GateContext): Decision {
  const topic = inboundTopicOf(message.topic, context.topics);
  // Before every check of its form.
  if (topic?.kind === 'stop') return decideStop(message, context);
  // A retained message is of an unknown time in the past.
  if (message.retain) return discard('retained');
  if (topic === null) return discard('misaddressed');
  if (message.oversizedBytes !== null || message.payload.length > MAX_PAYLOAD_BYTES[topic.kind]) {
    return discard('oversized');
  }
  const payload = parsePayload(message.payload);
  if (!payload.ok) return discard(payload.reason);
  switch (topic.kind) {
    case 'tunnel-notification':
      return notificationOf(payload.value, context);
    case 'notify-next':
      return releaseOf(payload.value, context);
    case 'answer': {
      const read = readAnswer(payload.value, topic, context);
      if (!read.ok) return discard(read.reason);
      return { kind: 'answer', clientToken: read.clientToken, answer: read.answer };
    }
  }
}

function discard(reason: DiscardReason): Decision {
  return { kind: 'discard', reason };
}

function notificationOf(value: unknown, { hasSeenNotification }: GateContext): Decision {
  const notification = readNotification(value);
  if (typeof notification === 'string') return discard(notification);
  return { kind: 'tunnel-notification', notification, isRepeated: hasSeenNotification(notification.clientAccessToken) };
}

/** Of a message that offers no execution. */
const queueNames = ['timestamp', 'execution'];

function releaseOf(value: unknown, { serial, hasSeenExecution }: GateContext): Decision {
  if (!isRecord(value)) return discard('wrong-type');
  const execution = readExecution(field(value, 'execution'), serial);
  // An empty queue with anything else in it is another message.
  if (execution === null) return discard(hasOther(value, queueNames) ? 'unknown-field' : 'empty-queue');
  if (typeof execution === 'string') return discard(execution);
  if (!offered.includes(execution.status)) return discard('wrong-type');
  if (hasSeenExecution(execution.jobId, execution.executionNumber)) return discard('duplicate');
  return { kind: 'release', execution };
}
