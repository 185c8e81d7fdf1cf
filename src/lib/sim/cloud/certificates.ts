import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { systemClock } from '../../lifecycle/index.ts';

/**
 * A certificate authority (CA) in memory for the simulated cloud: server certificates for names and addresses, client
 * certificates for certificate requests. EC P-256 and SHA-256. Keys are generated at run time.
 */
export interface CertificateAuthority {
  /** The CA certificate. */
  readonly caPem: string;
  /** Its private key (PKCS#8), to keep the CA over restarts. */
  readonly keyPem: string;
  /** A key and a certificate for a server with these names and addresses. */
  issueServer(options: ServerCertificateOptions): Promise<IssuedPair>;
  /** A client certificate for the key of a certificate request. Throws RangeError for an invalid one. */
  issueClient(requestPem: string, options?: ClientCertificateOptions): Promise<string>;
  /** A key and a client certificate without a request. */
  issueClientPair(commonName: string, options?: ClientCertificateOptions): Promise<IssuedPair>;
  /** A subordinate CA. Its `caPem` is its own certificate, without the chain. */
  issueCa(commonName: string, options?: Validity): Promise<CertificateAuthority>;
}

export interface Validity {
  /** An hour ago by default. */
  readonly notBefore?: Date;
  /** A year from now by default. */
  readonly notAfter?: Date;
}

export interface ServerCertificateOptions extends Validity {
  /** Host names and IP addresses; the first is also the common name. */
  readonly names: readonly [string, ...string[]];
}

interface ClientCertificateOptions extends Validity {
  /** Instead of the common name of the request. */
  readonly commonName?: string;
  /** Extended key usage; client by default, null for no such extension. */
  readonly purpose?: 'client' | 'server' | null;
  /** Whether the key usage includes signing; true by default. */
  readonly signs?: boolean;
}

export interface IssuedPair {
  /** PKCS#8. */
  readonly keyPem: string;
  readonly certificatePem: string;
}

/** The content of a certificate request with a verified signature. */
export interface ReadRequest {
  readonly commonName: string | null;
  /** Public key as PEM (SubjectPublicKeyInfo). */
  readonly publicKeyPem: string;
  /** Curve of an EC key, `prime256v1` for P-256; null for another kind of key. */
  readonly curve: string | null;
}

/** EC P-256, as `ReadRequest` names it. */
export const CURVE = 'prime256v1';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * 24 * HOUR_MS;
const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const signing = { name: 'ECDSA', hash: 'SHA-256' } as const;
const purposes = { client: '1.3.6.1.5.5.7.3.2', server: '1.3.6.1.5.5.7.3.1' } as const;

export interface CaOptions extends Validity {
  readonly commonName?: string;
}

/** Creates a CA with a new key. */
export async function createCa(options: CaOptions = {}): Promise<CertificateAuthority> {
  const { x509, crypto } = await load();
  const { commonName = 'Simulated cloud', ...validity } = options;
  const pair = newPair();
  const keys = cryptoKeys(pair.privateKey);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serialNumber(),
      name: [{ CN: [commonName] }],
      ...period(validity),
      signingAlgorithm: signing,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, crypto),
      ],
    },
    crypto,
  );
  return caOf(pem(certificate), pkcs8(pair.privateKey));
}

/** The CA of a certificate and its private key, from `caPem` and `keyPem` of an earlier one. */
export function restoreCa(kept: { readonly caPem: string; readonly keyPem: string }): CertificateAuthority {
  return caOf(kept.caPem, kept.keyPem);
}

/** Parses a certificate request. Undefined when it is malformed or its signature does not match its key. */
export async function readRequest(requestPem: string): Promise<ReadRequest | undefined> {
  const { x509, crypto } = await load();
  try {
    const request = new x509.Pkcs10CertificateRequest(requestPem);
    if (!(await request.verify(crypto))) return undefined;
    const key = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' });
    return {
      commonName: request.subjectName.getField('CN')[0] ?? null,
      publicKeyPem: key.export({ type: 'spki', format: 'pem' }).toString(),
      curve: key.asymmetricKeyDetails?.namedCurve ?? null,
    };
  } catch {
    return undefined;
  }
}

function caOf(caPem: string, keyPem: string): CertificateAuthority {
  let parsed: Promise<{ readonly subject: InstanceType<X509['Name']>; readonly keys: CryptoKeyPair }> | undefined;
  const own = () => {
    parsed ??= load().then(({ x509 }) => ({
      subject: new x509.X509Certificate(caPem).subjectName,
      keys: cryptoKeys(createPrivateKey(keyPem)),
    }));
    return parsed;
  };

  async function issue(
    commonName: string,
    publicKey: CryptoKey,
    validity: Validity,
    extensions: (x509: X509) => InstanceType<X509['Extension']>[],
  ): Promise<string> {
    const { x509, crypto } = await load();
    const { subject: issuer, keys } = await own();
    const certificate = await x509.X509CertificateGenerator.create(
      {
        serialNumber: serialNumber(),
        subject: [{ CN: [commonName] }],
        issuer,
        ...period(validity),
        signingAlgorithm: signing,
        publicKey,
        signingKey: keys.privateKey,
        extensions: [
          ...extensions(x509),
          await x509.SubjectKeyIdentifierExtension.create(publicKey, false, crypto),
          await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey, false, crypto),
        ],
      },
      crypto,
    );
    return pem(certificate);
  }

  const leaf = (x509: X509, purpose: 'client' | 'server' | null, signs = true) => [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(signs ? x509.KeyUsageFlags.digitalSignature : x509.KeyUsageFlags.keyAgreement, true),
    ...(purpose === null ? [] : [new x509.ExtendedKeyUsageExtension([purposes[purpose]])]),
  ];

  const client = (
    commonName: string,
    key: CryptoKey,
    { purpose = 'client', signs, ...validity }: ClientCertificateOptions,
  ) => issue(commonName, key, validity, (x509) => leaf(x509, purpose, signs));

  return {
    caPem,
    keyPem,
    async issueServer({ names, ...validity }) {
      const pair = newPair();
      const { publicKey } = cryptoKeys(pair.privateKey);
      const certificatePem = await issue(names[0], publicKey, validity, (x509) => [
        ...leaf(x509, 'server'),
        new x509.SubjectAlternativeNameExtension(
          names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
        ),
      ]);
      return { keyPem: pkcs8(pair.privateKey), certificatePem };
    },
    async issueClient(requestPem, options = {}) {
      const request = await readRequest(requestPem);
      if (request?.curve !== CURVE) throw new RangeError('not a certificate request signed with an EC P-256 key');
      const key = createPublicKey(request.publicKeyPem).toCryptoKey(keyAlgorithm, true, ['verify']) as CryptoKey;
      return client(options.commonName ?? request.commonName ?? '', key, options);
    },
    async issueClientPair(commonName, options = {}) {
      const pair = newPair();
      const { publicKey } = cryptoKeys(pair.privateKey);
      return {
        keyPem: pkcs8(pair.privateKey),
        certificatePem: await client(options.commonName ?? commonName, publicKey, options),
      };
    },
    async issueCa(commonName, validity = {}) {
      const pair = newPair();
      const { publicKey } = cryptoKeys(pair.privateKey);
      const certificatePem = await issue(commonName, publicKey, validity, (x509) => [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      ]);
      return caOf(certificatePem, pkcs8(pair.privateKey));
    },
  };
}

type X509 = typeof import('@peculiar/x509');

/** Loads the library on demand: it is large, and most simulators issue no certificate. */
async function load(): Promise<{ readonly x509: X509; readonly crypto: Crypto }> {
  await import('reflect-metadata');
  return { x509: await import('@peculiar/x509'), crypto };
}

function newPair() {
  return generateKeyPairSync('ec', { namedCurve: CURVE });
}

function cryptoKeys(privateKey: KeyObject) {
  return {
    privateKey: privateKey.toCryptoKey(keyAlgorithm, true, ['sign']) as CryptoKey,
    publicKey: createPublicKey(privateKey).toCryptoKey(keyAlgorithm, true, ['verify']) as CryptoKey,
  };
}

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** PEM as OpenSSL writes it, with a final newline. */
function pem(certificate: { readonly rawData: ArrayBuffer }): string {
  return new X509Certificate(Buffer.from(certificate.rawData)).toString();
}

/** Positive, exactly 16 bytes. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

/** Of the machine, also where a simulator has another clock: TLS compares certificates with it. */
const nowMs = () => systemClock.wall().getTime();

/** Expired a day ago. */
export function expiredPeriod(): Required<Validity> {
  const now = nowMs();
  return { notBefore: new Date(now - 3 * DAY_MS), notAfter: new Date(now - DAY_MS) };
}

function period({ notBefore, notAfter }: Validity): Required<Validity> {
  const now = nowMs();
  return { notBefore: notBefore ?? new Date(now - HOUR_MS), notAfter: notAfter ?? new Date(now + YEAR_MS) };
}

/** CA certificate of the simulated cloud, in the folder of the simulator. */
export const CA_FILE = 'enrolment-ca.pem';
