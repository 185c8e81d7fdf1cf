import type { StopWire } from '../../cloud/wire.ts';
import type { Broker } from './mqtt/broker.ts';
import type { BrokerLimits } from './mqtt/guard.ts';
import type { JobView } from './services/jobs.ts';
import type { DocumentChanges } from './services/release.ts';
import type { ShadowView } from './services/shadow.ts';
import type { TopicTemplates } from './services/topics.ts';
import type { StorageRequest, Upload } from './storage/storage.ts';
import type { TunnelControl } from './tunnel/model.ts';

/** Addresses of the simulated cloud, as in a site file. */
export interface CloudPlaces {
  readonly mqtt: { readonly host: string; readonly port: number; readonly fallbackPort: number; readonly alpn: string };
  readonly storageUrl: string;
  readonly tunnel: { readonly host: string; readonly port: number };
}

/** Settings of the simulated cloud, for tests. */
export interface CloudSettings {
  /** Limits of the broker; those of a common vendor by default. */
  readonly limits?: Partial<BrokerLimits>;
  /** Also written to the site file. */
  readonly topics?: Partial<TopicTemplates>;
  /** Whether answers of jobs and shadow reach the asking client without a subscription; false by default. */
  readonly answersWithoutSubscription?: boolean;
  /** Validity of a pre-signed URL; 900 s by default. */
  readonly urlLifetimeS?: number;
}

/** A message that the cloud received from a device. */
export interface ReceivedMessage {
  /** Client identifier. */
  readonly client: string;
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: number;
  /** UTC by the clock of the simulator. */
  readonly at: string;
}

/** What the operator of the cloud can do. Without `serial`: the simulated robot. */
export interface CloudControl {
  readonly places: CloudPlaces;
  readonly topics: TopicTemplates;
  readonly broker: Pick<Broker, 'clients' | 'connected' | 'connectedIds' | 'closed' | 'discarded'>;
  readonly tunnel: TunnelControl;
  /** Messages and last wills of devices in the order of their arrival, also repeated ones; at most the last 10,000. */
  received(): readonly ReceivedMessage[];
  /** Publishes a stop; returns its id. */
  stop(stop?: StopOptions): Promise<string>;
  /** Stores a package and creates the job for it. Throws FILE_UNREADABLE, USAGE when its version cannot be read. */
  release(release: ReleaseOptions): Promise<JobView>;
  /** Publishes any message; the shadow service handles those on its topics. */
  send(
    topic: string,
    payload: Uint8Array | string,
    options?: { readonly retain?: boolean; readonly qos?: 0 | 1 },
  ): Promise<void>;
  /** Restarts the broker: all connections end, sessions are kept. Resolves when it accepts connections again. */
  restart(): Promise<void>;
  /** Queues a job with any document. Throws USAGE. */
  createJob(document: unknown, options?: { readonly jobId?: string; readonly serial?: string }): JobView;
  /** Oldest first, at most the last 1000. */
  jobs(): readonly JobView[];
  /** Cancels a job; one in progress only with `force`. Throws USAGE. */
  cancel(jobId: string, options?: { readonly force?: boolean; readonly serial?: string }): JobView;
  shadow(serial?: string): ShadowView;
  /** Archives that devices have uploaded, oldest first. */
  uploads(): readonly Upload[];
  /** Puts an object into the storage and returns a pre-signed URL for it. */
  storeObject(key: string, bytes: Uint8Array): string;
  /** Requests to the object storage, oldest first, at most the last 1000. */
  storageRequests(): readonly StorageRequest[];
}

/** Fields of the message, and the device. */
type StopOptions = { readonly [K in keyof StopWire | 'serial']?: string | undefined };

interface ReleaseOptions {
  /** Path of the package. */
  readonly file: string;
  /** By default the version in the manifest of the package. */
  readonly version?: string | undefined;
  readonly stage?: number | undefined;
  readonly allowDowngrade?: boolean | undefined;
  /** Changes to the job document; `package` is merged, a value of undefined removes a field. */
  readonly document?: DocumentChanges | undefined;
  readonly jobId?: string | undefined;
  readonly serial?: string | undefined;
}
