/** Where senders deliver to. A server without `PACKLINE_PUBLIC_URL` gives the path alone: the rest is the page's. */
export function webhookAddress(url: string): string {
  return url.startsWith("/") ? `${window.location.origin}${url}` : url;
}
