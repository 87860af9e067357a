export function DocumentPage({ id }: { id: string }) {
  return <p>{id}</p>;
}
