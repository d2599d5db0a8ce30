/** Where a person looks at a group (contract §9). */
export function dashboardUrl(baseUrl: string, errorGroupId: string): string {
  return `${baseUrl}/console/errors/${errorGroupId}`;
}
