# nicmon on Debian 13, in three stages: rdma-core from Debian's newest source package (for the
# LAG-aware speed verb, which this release's own lacks), nicmon with its unit tests, and what runs.
#
#   docker build -t nicmon .       or podman build, buildah bud
ARG BASE=docker.io/library/debian:trixie-slim

FROM ${BASE} AS rdma-core
ARG RDMA_CORE_SUITE=sid
ARG RDMA_CORE_MINIMUM=62
ARG APT_OPTIONS=
COPY scripts/lib.sh /src/scripts/
COPY deploy/image/build-rdma-core /src/deploy/image/
RUN /src/deploy/image/build-rdma-core "$RDMA_CORE_SUITE" "$RDMA_CORE_MINIMUM" /out

FROM ${BASE} AS build
ENV DEBIAN_FRONTEND=noninteractive
COPY scripts/lib.sh /src/scripts/
RUN bash -euc '. /src/scripts/lib.sh; \
    install_packages "${BUILD_PACKAGES[@]}" "${UNIT_TEST_PACKAGES[@]}" dpkg-dev file'
COPY . /src
ARG REVISION=unknown
# -O2 as Debian's own packages; several files are compiled as one, which takes less time.
RUN --mount=type=cache,target=/root/.cache/ccache \
    cmake -G Ninja -S /src -B /build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
      -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DNICMON_WERROR=ON -DCMAKE_UNITY_BUILD=ON \
      -DNICMON_REVISION="$REVISION" >/dev/null && \
    cmake --build /build
RUN ctest --test-dir /build -j "$(nproc)" -L unit --output-on-failure --no-tests=error && \
    cd /build && cpack -G DEB >/dev/null && mkdir /out && mv ./*.deb /out/

FROM ${BASE}
# Copied and not mounted: older buildahs mount nothing from a stage that comes from their cache.
COPY --from=rdma-core /out /packages/
COPY --from=build /out /packages/
RUN apt-get -qq update && \
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install /packages/*.deb && \
    find / -xdev -type f -perm /6000 -exec chmod a-s {} + && \
    rm -rf /packages /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="nicmon" \
      org.opencontainers.image.description="Monitor for RDMA NICs" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
# No right is needed, and no program gives any: the device nodes are open to all. Mounted directories must let this user write.
USER 65532:65532
EXPOSE 9879
ENTRYPOINT ["/usr/bin/nicmon"]
