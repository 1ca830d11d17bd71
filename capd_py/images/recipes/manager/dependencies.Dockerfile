FROM {{ base }}
COPY dependencies /app/dependencies
RUN python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /app/dependencies || true
