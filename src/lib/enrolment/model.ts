import type { CertificateView } from '../x509/index.ts';

/** The identity of this device in the cloud, as it was installed. Nothing in it is secret. */
export interface Identity {
  /** Serial number of the chassis: the common name of the certificate, the thing name, the MQTT client identity. */
  readonly serial: string;
  /** Host of the MQTT broker, as the enrolment endpoint gave it; no port. */
  readonly endpoint: string;
  /** Region of the cloud, as the enrolment endpoint gave it. */
  readonly region: string;
  /** UTC ISO; by the Date header of the enrolment endpoint, else by the clock of this device. For records. */
  readonly enrolledAt: string;
  readonly certificate: InstalledCertificate;
  /** The certificates (PEM) that the device trusts for the cloud, and that its own one chains to. */
  readonly caPem: string;
}

/** The certificate of the device, with those between it and the CA. */
export interface InstalledCertificate extends CertificateView {
  /** The certificate of the device first, then those between it and the CA, if there are any. */
  readonly pem: string;
}

/** What a TLS client needs. `keyPem` is a secret: it goes to a TLS library and nowhere else. */
export interface Credentials {
  readonly keyPem: string;
  readonly certificatePem: string;
  readonly caPem: string;
}

/** Signs with the device key: ECDSA over P-256 with SHA-256. */
export interface Signer {
  readonly serial: string;
  /** The certificate that belongs to the key, with those between it and the CA. */
  readonly certificatePem: string;
  /** The signature as `r` and `s`, 32 bytes each (IEEE P1363), big-endian. */
  sign(bytes: Uint8Array): Buffer;
}
