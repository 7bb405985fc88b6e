/** Lists by key. */

/** Adds to the list of a key, which is made with its first member; the list itself grows, so that many members cost no more than few. */
export function addTo<K, V>(lists: Map<K, V[]>, key: K, member: V): void {
  const list = lists.get(key);
  if (list) list.push(member);
  else lists.set(key, [member]);
}
