// An OpenID provider on loopback, by others: `node provider.mjs` with its configuration as JSON on standard input.
import { readFileSync } from "node:fs";

import Provider from "oidc-provider";

const { port, keys, clients, people, accessTokenSeconds } = JSON.parse(readFileSync(0, "utf8"));
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients,
  jwks: { keys },
  cookies: { keys: ["of a test"] },
  claims: { openid: ["sub"], profile: ["name", "groups"], email: ["email"] },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  extraTokenClaims: (_ctx, token) => ({ groups: people[token.accountId ?? token.clientId]?.groups ?? [] }),
  ttl: { AccessToken: accessTokenSeconds, ClientCredentials: accessTokenSeconds },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_ctx, resource) => ({
        scope: "openid profile email packline",
        audience: resource,
        accessTokenFormat: "jwt",
      }),
    },
    rpInitiatedLogout: { enabled: true },
  },
});

const server = provider.listen(port, "127.0.0.1", () => console.log(`ready at ${issuer}`));
process.on("SIGTERM", () => server.close(() => process.exit(0)));
