//! What the engines of one process do alike: local columns, and being the only rank.
//!
//! The reference engine and the threads engine differ in how they compute on columns. Everything here is the same in
//! both, so it stands once, as implementations of the traits beside [`crate::engine::Engine`]; each needs a field
//! `meter`.

/// What does not depend on how columns are computed on.
macro_rules! one_process {
    ($engine:ident) => {
        impl Columns for $engine {
            type Column = Vector;
            type Descriptor = Descriptor;

            fn scalar_type(&self, column: &Vector) -> ScalarType {
                column.scalar_type()
            }

            fn length(&self, column: &Vector) -> usize {
                column.len()
            }

            fn segments(&self, descriptor: &Descriptor) -> usize {
                descriptor.segments()
            }

            fn constants(&mut self, constants: &Constants) -> Result<Vector, Fault> {
                Ok(Vector::from_constants(&self.meter, constants)?)
            }

            fn descriptor(&mut self, starts: Option<Vector>, lengths: Vector) -> Result<Descriptor, Fault> {
                Ok(match starts {
                    Some(starts) => Descriptor::view(&self.meter, starts, lengths),
                    None => Descriptor::packed(&self.meter, lengths),
                })
            }

            fn starts(&mut self, descriptor: &Descriptor) -> Result<Vector, Fault> {
                Ok(descriptor.starts_vector()?.clone())
            }

            fn lengths(&mut self, descriptor: &Descriptor) -> Result<Vector, Fault> {
                Ok(descriptor.lengths_vector()?.clone())
            }

            fn total(&mut self, descriptor: &Descriptor) -> Result<usize, Fault> {
                Ok(descriptor.total()?)
            }

            fn is_packed(&self, descriptor: &Descriptor) -> bool {
                descriptor.is_packed()
            }

            fn identity(&self, column: &Vector) -> Option<usize> {
                column.identity()
            }

            fn trim(&mut self, column: &mut Vector) {
                column.trim(&self.meter);
            }
        }

        impl Collective for $engine {
            type Local = Self;

            fn rank(&self) -> (usize, usize) {
                (0, 1)
            }

            fn import(&mut self, piece: Constants) -> Result<Vector, Fault> {
                Ok(Vector::adopt_constants(&self.meter, piece)?)
            }

            fn fetch(&mut self, column: &Vector, start: usize, length: usize) -> Result<Window, Fault> {
                Ok(Window { start, elements: column.slice(start, length).to_constants() })
            }

            fn own(&mut self, column: &Vector) -> Result<Window, Fault> {
                Ok(Window { start: 0, elements: column.to_constants() })
            }

            fn carried(&mut self, columns: &[Vector]) -> Result<Vec<$crate::data::carried::Carried>, Fault> {
                let carried = |column: &Vector| $crate::data::carried::Carried {
                    scalar: column.scalar_type(),
                    length: column.len(),
                    part: column.clone(),
                };
                Ok(columns.iter().map(carried).collect())
            }

            fn arrived(&mut self, carried: Vec<$crate::data::carried::Carried>) -> Vec<Vector> {
                carried.into_iter().map(|column| column.part).collect()
            }

            fn agree<T, E: Clone + serde::Serialize + serde::de::DeserializeOwned>(
                &mut self,
                outcome: Result<T, E>,
            ) -> Result<T, E> {
                outcome
            }

            fn counters(&mut self, machine: $crate::data::counters::Counters) -> Vec<$crate::data::counters::Counters> {
                let mut counters = machine;
                self.meter.report(&mut counters);
                vec![counters]
            }
        }
    };
}
